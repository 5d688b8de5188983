// Addresses of servers as users write them.
#ifndef COBRA_BASE_ADDRESS_H_
#define COBRA_BASE_ADDRESS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cobra {

// OK for HOST:PORT, [IPV6]:PORT and gRPC's own names (unix:PATH, dns:..., ipv4:..., ipv6:...).
// Otherwise a Diagnostic of kind kUsage that shows the correct form: gRPC itself would look up
// "http://host:1" as a name and use port 443 for "localhost". `flag` is the command-line flag of
// the address, "--server". No connection is made.
absl::Status CheckAddress(absl::string_view flag, absl::string_view address);

// The same for an address to listen on: port 0 chooses a free one. `usual_port` is what the hint
// suggests.
absl::Status CheckListenAddress(absl::string_view flag, absl::string_view address, int usual_port);

// Whether `address` is one of gRPC's own names (unix:PATH ...), which only gRPC can interpret.
bool IsGrpcName(absl::string_view address);

// Whether only this machine can reach `address`: 127.0.0.0/8, [::1], localhost, a Unix socket.
// False for every form that is not recognized.
bool IsLocalAddress(absl::string_view address);

}  // namespace cobra

#endif  // COBRA_BASE_ADDRESS_H_
