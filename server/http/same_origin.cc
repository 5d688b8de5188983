#include "server/http/same_origin.h"

#include <arpa/inet.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/address.h"

namespace cobra::http {
namespace {

bool IsAddress(const std::string& host) {
  unsigned char bytes[sizeof(in6_addr)];
  return ::inet_pton(AF_INET, host.c_str(), bytes) == 1 || ::inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

bool IsPort(absl::string_view text) {
  return text.size() <= 5 && std::all_of(text.begin(), text.end(), [](char c) { return absl::ascii_isdigit(c); });
}

// Without the port that a scheme has by itself: browsers leave it out.
std::string Authority(absl::string_view scheme, absl::string_view authority) {
  absl::ConsumeSuffix(&authority, scheme == "https" ? ":443" : ":80");
  return absl::AsciiStrToLower(authority);
}

// Whether `origin` is "SCHEME://AUTHORITY" of the authority that the request was sent to.
bool IsOriginOf(absl::string_view origin, absl::string_view authority) {
  for (const absl::string_view scheme : {"http", "https"}) {
    absl::string_view rest = origin;
    if (absl::ConsumePrefix(&rest, scheme) && absl::ConsumePrefix(&rest, "://") &&
        Authority(scheme, rest) == Authority(scheme, authority))
      return true;
  }
  return false;
}

// Of what others send, as it may be repeated in an error.
std::string Shown(absl::string_view text) { return std::string(text.substr(0, 80)); }

}  // namespace

std::string HostOf(absl::string_view authority) {
  absl::string_view host = authority, port;
  if (absl::ConsumePrefix(&host, "[")) {
    const size_t end = host.find(']');
    if (end == absl::string_view::npos) return "";
    port = host.substr(end + 1);
    host = host.substr(0, end);
    if (!port.empty() && !absl::ConsumePrefix(&port, ":")) return "";
  } else if (const size_t colon = host.find(':'); colon != absl::string_view::npos) {
    port = host.substr(colon + 1);
    host = host.substr(0, colon);
  }
  absl::ConsumeSuffix(&host, ".");
  return IsPort(port) ? absl::AsciiStrToLower(host) : "";
}

SameOrigin::SameOrigin(absl::string_view listen, const std::vector<std::string>& names) {
  const std::string own = HostOf(listen);
  any_address_ = own == "0.0.0.0" || own == "::";
  hosts_.push_back(own);
  if (any_address_ || IsLocalAddress(listen)) hosts_.insert(hosts_.end(), {"localhost", "127.0.0.1", "::1"});
  for (const std::string& name : names) hosts_.push_back(HostOf(name));
}

bool SameOrigin::IsOurs(absl::string_view host) const {
  if (host.empty()) return false;
  return std::find(hosts_.begin(), hosts_.end(), host) != hosts_.end() ||
         (any_address_ && IsAddress(std::string(host)));
}

absl::Status SameOrigin::Check(const Head& head, bool is_page) const {
  const std::vector<absl::string_view> hosts = head.Values("host");
  if (hosts.size() != 1) return absl::InvalidArgumentError("the request must have one Host header");
  if (!IsOurs(HostOf(hosts[0]))) {
    return absl::PermissionDeniedError(
        absl::StrCat("Host ", Shown(hosts[0]), ": is not the name of this server (cobra-server --http-host NAME)"));
  }
  for (const absl::string_view origin : head.Values("origin")) {
    if (!IsOriginOf(origin, hosts[0]))
      return absl::PermissionDeniedError(
          absl::StrCat("Origin ", Shown(origin), ": pages of other sites may not send requests"));
  }
  for (const absl::string_view site : head.Values("sec-fetch-site")) {
    const bool is_link = is_page && head.Value("sec-fetch-mode") == "navigate";
    if (site != "same-origin" && site != "none" && !is_link) {
      return absl::PermissionDeniedError(
          absl::StrCat("Sec-Fetch-Site ", Shown(site), ": pages of other sites may not send requests"));
    }
  }
  return absl::OkStatus();
}

}  // namespace cobra::http
