// Which requests a browser may have sent on behalf of a page. Pages of this server may ask it
// anything. Pages of others may not, even if they have made their own name lead to this server's
// address (DNS rebinding). Programs other than browsers send neither Origin nor Sec-Fetch-Site.
#ifndef COBRA_SERVER_HTTP_SAME_ORIGIN_H_
#define COBRA_SERVER_HTTP_SAME_ORIGIN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/http/message.h"

namespace cobra::http {

// The host of "name", "name:80", "[::1]:80", in small letters and without brackets; "" if it is
// none of these.
std::string HostOf(absl::string_view authority);

class SameOrigin {
 public:
  // `listen`: "HOST:PORT". Requests may name that host; where it is one of this machine's own, also
  // its other names; where it stands for all addresses, every address; and `names`.
  SameOrigin(absl::string_view listen, const std::vector<std::string>& names);

  // InvalidArgument without one Host, PermissionDenied for another one, or for the request of
  // another site's page. `is_page`: another site may link to it.
  absl::Status Check(const Head& head, bool is_page) const;

 private:
  bool IsOurs(absl::string_view host) const;

  std::vector<std::string> hosts_;
  bool any_address_ = false;
};

}  // namespace cobra::http

#endif  // COBRA_SERVER_HTTP_SAME_ORIGIN_H_
