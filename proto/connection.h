// How our clients reach a server: TLS, and the token that goes with each call.
#ifndef COBRA_PROTO_CONNECTION_H_
#define COBRA_PROTO_CONNECTION_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/connection_files.h"
#include "grpcpp/grpcpp.h"

namespace cobra::proto {

// Without a connection. A Diagnostic of kind kUsage, beginning with the flag, if a file cannot be
// used or if the token would cross a network in plain text.
absl::Status CheckConnection(const ConnectionFiles& files, const std::string& address);

// Does not wait for the server, and takes no compressed messages (compression.h). Certificates that
// change are used by the connections made afterwards.
std::shared_ptr<grpc::Channel> Connect(const ConnectionFiles& files, const std::string& address,
                                       grpc::ChannelArguments arguments);

// Reads the token again, so that a new one counts from the next call on.
absl::Status AddToken(const ConnectionFiles& files, grpc::ClientContext* context);

}  // namespace cobra::proto

#endif  // COBRA_PROTO_CONNECTION_H_
