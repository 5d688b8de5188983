// What the metadata of a call say about it, beside who calls: its labels, and the trace that it is
// part of.
#ifndef COBRA_SERVER_LANES_CALL_METADATA_H_
#define COBRA_SERVER_LANES_CALL_METADATA_H_

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "grpcpp/support/string_ref.h"

namespace cobra::server {

using Metadata = std::multimap<grpc::string_ref, grpc::string_ref>;  // grpc::ServerContext::client_metadata()

// The labels "cobra-label-NAME: VALUE" as a JSON object; null if there are none. A Diagnostic of
// kind kUsage for more than 8, for names of more than 64 and values of more than 256 bytes, and for
// a name that comes twice.
absl::StatusOr<std::shared_ptr<const std::string>> LabelsOf(const Metadata& metadata);

// The caller's id of the call (proto/request_id.h); empty if there is none. A Diagnostic of kind
// kUsage if it is not an id, or comes twice.
absl::StatusOr<std::string> RequestIdOf(const Metadata& metadata);

// Of the W3C's header "traceparent" (Trace Context, level 1, section 3.2).
struct TraceContext {
  std::string trace_id;   // 32 hexadecimal digits
  std::string parent_id;  // 16: of the caller's span
};
inline constexpr char kTraceName[] = "traceparent";
// Nothing if the header is missing or not valid.
std::optional<TraceContext> TraceOf(const Metadata& metadata);
std::optional<TraceContext> TraceOf(absl::string_view traceparent);

}  // namespace cobra::server

#endif  // COBRA_SERVER_LANES_CALL_METADATA_H_
