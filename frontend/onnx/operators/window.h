// The window of convolutions and pools over the spatial dimensions of an input: kernel, strides,
// dilations and paddings.
#ifndef COBRA_FRONTEND_ONNX_OPERATORS_WINDOW_H_
#define COBRA_FRONTEND_ONNX_OPERATORS_WINDOW_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "frontend/onnx/importer/node_context.h"

namespace cobra::onnx {

struct Window {
  std::vector<int64_t> kernel, stride, dilation, begin, end;  // one entry a spatial dimension; begin and end: padding
};

// The attributes kernel_shape, strides, dilations, pads and auto_pad of the node, whose input is of
// the shape `input`: batch, channels, spatial dimensions. `kernel` is that of the weight; empty:
// kernel_shape is required. Without `resolve_auto_pad` a SAME padding stays 0.
absl::StatusOr<Window> ReadWindow(NodeContext& c, const graph::Shape& input, const graph::Shape& kernel,
                                  bool resolve_auto_pad = true);

// A convolution with the attributes of the node, of `x` with the channels in dimension 1; the bias
// may be null.
absl::StatusOr<TensorPtr> Convolved(NodeContext& c, TensorPtr x, const TensorPtr& weight, const TensorPtr& bias);

// The input with the window's padding around it.
absl::StatusOr<TensorPtr> PadSpatial(NodeContext& c, const TensorPtr& x, const Window& window, double value);

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_OPERATORS_WINDOW_H_
