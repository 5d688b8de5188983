// Pools with the attributes of the node that is read.
#ifndef COBRA_FRONTEND_ONNX_OPERATORS_POOL_H_
#define COBRA_FRONTEND_ONNX_OPERATORS_POOL_H_

#include <vector>

#include "absl/status/statusor.h"
#include "frontend/onnx/importer/node_context.h"

namespace cobra::onnx {

// Of `x` with the channels in dimension 1.
absl::StatusOr<TensorPtr> AveragePooled(NodeContext& c, const TensorPtr& x);
absl::StatusOr<TensorPtr> GlobalAveragePooled(NodeContext& c, const TensorPtr& x);
// Also the indices, if the node has a second output.
absl::StatusOr<std::vector<TensorPtr>> MaxPooled(NodeContext& c, TensorPtr x);

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_OPERATORS_POOL_H_
