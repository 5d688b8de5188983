// Converts between ModelSource and the model of a cobra.v1.PredictRequest. ModelSource itself is in
// frontend/, since reading a model needs no messages. The conversion has its own library
// (cobra_model_source_proto), since only client and server need it.
#ifndef COBRA_PROTO_MODEL_SOURCE_PROTO_H_
#define COBRA_PROTO_MODEL_SOURCE_PROTO_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/limits.h"
#include "cobra/v1/cobra.pb.h"
#include "frontend/model_source.h"

namespace cobra::proto {

// Sets `request`'s model. A Diagnostic of kind kUsage for a GraphJson, which has no message: its
// graph is sent instead. For Python source, the folders of this machine (library_roots, package)
// are omitted.
absl::Status ModelSourceToProto(const frontend::ModelSource& source, v1::PredictRequest* request);

// Moves the texts and files out of `request`, and rebuilds a graph (graph_proto.h). The input is
// untrusted; errors carry a Diagnostic. It checks that a bundle's paths are relative and stay
// inside it, and that `limits` allow its number of files. It does not check that `file` of Python
// source is in the bundle; the caller does. REQUIRES: the request has a model.
absl::StatusOr<frontend::ModelSource> TakeModelSource(v1::PredictRequest* request, const Limits& limits);

}  // namespace cobra::proto

#endif  // COBRA_PROTO_MODEL_SOURCE_PROTO_H_
