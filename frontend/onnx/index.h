#ifndef COBRA_FRONTEND_ONNX_INDEX_H_
#define COBRA_FRONTEND_ONNX_INDEX_H_

#include "absl/status/statusor.h"
#include "frontend/onnx/node_context.h"

namespace cobra::onnx {

// The index as int64, negative entries counted from the end of `size` elements: PyTorch's gather and scatter take none.
absl::StatusOr<TensorPtr> NonNegative(NodeContext& c, const TensorPtr& given, int64_t size);

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_INDEX_H_
