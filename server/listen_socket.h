// A socket at an address that the user gave.
#ifndef COBRA_SERVER_LISTEN_SOCKET_H_
#define COBRA_SERVER_LISTEN_SOCKET_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/descriptor.h"

namespace cobra::server {

// A socket that listens at "HOST:PORT" or "[V6]:PORT"; port 0 chooses a free port. The error begins with the address
// and gives the reason: "127.0.0.1:80: Address already in use".
absl::StatusOr<Descriptor> ListenAt(absl::string_view address);

}  // namespace cobra::server

#endif  // COBRA_SERVER_LISTEN_SOCKET_H_
