// absl::Status and Diagnostic to and from messages (error.proto).
#ifndef COBRA_PROTO_STATUS_PROTO_H_
#define COBRA_PROTO_STATUS_PROTO_H_

#include "absl/status/status.h"
#include "base/diagnostic.h"
#include "cobra/v1/error.pb.h"

namespace cobra::proto {

void DiagnosticToProto(const Diagnostic& diagnostic, v1::ErrorDetail* proto);
Diagnostic DiagnosticFromProto(const v1::ErrorDetail& proto);

// With the Diagnostic and the retry delay (base/retry_delay.h) in the details, texts cut to what a
// trailer may carry. REQUIRES: not OK.
void StatusToProto(const absl::Status& status, v1::RpcStatus* proto);
// Keeps the code; what is in the details becomes the payloads that DiagnosticFromStatus() and
// RetryDelayOf() find.
absl::Status StatusFromProto(const v1::RpcStatus& proto);

}  // namespace cobra::proto

#endif  // COBRA_PROTO_STATUS_PROTO_H_
