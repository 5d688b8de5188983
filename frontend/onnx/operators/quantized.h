// Parts of quantized operators. LibTorch without a quantized backend computes them in float, and so
// does the graph: unpack, compute, round, pack.
#ifndef COBRA_FRONTEND_ONNX_OPERATORS_QUANTIZED_H_
#define COBRA_FRONTEND_ONNX_OPERATORS_QUANTIZED_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "frontend/onnx/importer/node_context.h"

namespace cobra::onnx {

// Reshapes a scale or zero point so that it broadcasts with a tensor of `rank` dimensions. The
// parameter is one number or has one number per channel of `axis`.
absl::StatusOr<TensorPtr> AlongAxis(NodeContext& c, const TensorPtr& parameter, int rank, int64_t axis);
// (x - zero_point) as float32; zero_point may be null.
absl::StatusOr<TensorPtr> Centred(NodeContext& c, const TensorPtr& x, const TensorPtr& zero_point, int64_t axis);
// (x - zero_point) * scale.
absl::StatusOr<TensorPtr> Dequantized(NodeContext& c, const TensorPtr& x, const TensorPtr& scale,
                                      const TensorPtr& zero_point, int64_t axis = 1);
// saturate(round(x) + zero_point), of the element type `onnx_type`; zero_point may be null.
absl::StatusOr<TensorPtr> Packed(NodeContext& c, const TensorPtr& x, const TensorPtr& zero_point, int32_t onnx_type,
                                 int64_t axis);
// Packed(x / scale).
absl::StatusOr<TensorPtr> Requantized(NodeContext& c, const TensorPtr& x, const TensorPtr& scale,
                                      const TensorPtr& zero_point, int32_t onnx_type);
// The result of QLinearConv for `x`, which is c.In(0) with channels in dimension 1. (The padding
// represents the zero point, which is 0 after unpacking.)
absl::StatusOr<TensorPtr> QuantizedConvolution(NodeContext& c, const TensorPtr& x);
// Input 0 as uint8 with its own range, its scale and zero point.
struct DynamicallyQuantized {
  TensorPtr y, scale, zero_point;
};
absl::StatusOr<DynamicallyQuantized> QuantizedDynamically(NodeContext& c, const TensorPtr& x);

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_OPERATORS_QUANTIZED_H_
