#ifndef COBRA_FRONTEND_ONNX_OPERATORS_INDEX_H_
#define COBRA_FRONTEND_ONNX_OPERATORS_INDEX_H_

#include "absl/status/statusor.h"
#include "frontend/onnx/importer/node_context.h"

namespace cobra::onnx {

// The index as int64, with negative entries converted to positions from the start of `size`
// elements: PyTorch's gather and scatter accept no negative ones.
absl::StatusOr<TensorPtr> NonNegative(NodeContext& c, const TensorPtr& given, int64_t size);

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_OPERATORS_INDEX_H_
