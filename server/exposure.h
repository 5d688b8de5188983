// Which addresses a server may listen on with the protection that it was given.
#ifndef COBRA_SERVER_EXPOSURE_H_
#define COBRA_SERVER_EXPOSURE_H_

#include "absl/status/status.h"
#include "server/server.h"

namespace cobra::server {

// A Diagnostic of kind kUsage if other machines could reach the API, by gRPC or HTTP, without TLS
// or without credentials, or could read the metrics, and the flags do not say that this is
// intended; or if flags contradict each other.
absl::Status CheckExposure(const ServerOptions& options);

}  // namespace cobra::server

#endif  // COBRA_SERVER_EXPOSURE_H_
