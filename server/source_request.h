// Models from the wire, checked, as what the readers take.
#ifndef COBRA_SERVER_SOURCE_REQUEST_H_
#define COBRA_SERVER_SOURCE_REQUEST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cobra/v1/cobra.pb.h"
#include "frontend/onnx/reader.h"
#include "frontend/python/reader.h"
#include "server/limits.h"

namespace cobra::server {

// Paths must be relative and stay inside the bundle. `file` is one of the bundle's, or a path below one of
// `library_roots` (directories of this machine), the first that has it.
absl::StatusOr<python::SourceRequest> SourceRequestFromProto(const v1::SourceModel& proto,
                                                             const std::vector<std::string>& library_roots,
                                                             const ServerLimits& limits);
onnx::OnnxRequest OnnxRequestFromProto(const v1::OnnxModel& proto);

}  // namespace cobra::server

#endif  // COBRA_SERVER_SOURCE_REQUEST_H_
