// absl::Status <-> grpc::Status, with the Diagnostic in the details (error.proto).
#ifndef COBRA_PROTO_GRPC_STATUS_H_
#define COBRA_PROTO_GRPC_STATUS_H_

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace cobra::proto {

grpc::Status ToGrpcStatus(const absl::Status& status);
// Keeps the code; a Diagnostic in the details becomes the payload that DiagnosticFromStatus()
// finds.
absl::Status FromGrpcStatus(const grpc::Status& status);

}  // namespace cobra::proto

#endif  // COBRA_PROTO_GRPC_STATUS_H_
