// Addresses of servers as users write them.
#ifndef COBRA_BASE_ADDRESS_H_
#define COBRA_BASE_ADDRESS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cobra {

// OK for HOST:PORT, [IPV6]:PORT and gRPC's own names (unix:PATH, dns:..., ipv4:..., ipv6:...). Else a Diagnostic of
// kind kUsage that says what to write: gRPC itself takes "http://host:1" for a name to look up and "localhost" for port
// 443. `flag` is what the address was given with, "--server". Nothing is connected to.
absl::Status CheckAddress(absl::string_view flag, absl::string_view address);

}  // namespace cobra

#endif  // COBRA_BASE_ADDRESS_H_
