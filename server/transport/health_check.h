// The health of a running server, as its --metrics address tells it: `cobra-server health`. It
// takes no credentials and is not encrypted, so a check in a container needs no certificate.
#ifndef COBRA_SERVER_TRANSPORT_HEALTH_CHECK_H_
#define COBRA_SERVER_TRANSPORT_HEALTH_CHECK_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace cobra::server {

// OK if the server at HOST:PORT or [V6]:PORT can answer. Otherwise Unavailable; the message begins
// with the address. Returns within `timeout`, apart from looking up a name.
absl::Status CheckHealth(absl::string_view address, absl::Duration timeout);

}  // namespace cobra::server

#endif  // COBRA_SERVER_TRANSPORT_HEALTH_CHECK_H_
