#include "frontend/onnx/operators/window.h"

#include <algorithm>

#include "base/status_macros.h"

namespace cobra::onnx {
namespace {

constexpr int64_t kMost = int64_t{1} << 24;  // a larger number is a mistake or an attack, and sums could overflow

absl::StatusOr<std::vector<int64_t>> Entries(const NodeContext& c, absl::string_view name, int n, int64_t fallback,
                                             int64_t least) {
  std::vector<int64_t> values = c.Ints(name);
  if (values.empty()) values.assign(n, fallback);
  if (static_cast<int>(values.size()) != n) return Invalid(name, " has ", values.size(), " entries, must have ", n);
  for (int64_t v : values) {
    if (v < least || v > kMost) return Invalid(name, " has an entry of ", v);
  }
  return values;
}

}  // namespace

absl::StatusOr<Window> ReadWindow(NodeContext& c, const graph::Shape& input, const graph::Shape& kernel,
                                  bool resolve_auto_pad) {
  Window w;
  const int n = static_cast<int>(input.size()) - 2;
  COBRA_RETURN_IF_ERROR(CheckSpatial(input));
  if (kernel.empty() && !c.HasAttr("kernel_shape")) return Invalid("the attribute kernel_shape is missing");
  COBRA_ASSIGN_OR_RETURN(w.kernel, Entries(c, "kernel_shape", n, 1, 1));
  if (!kernel.empty()) {
    if (c.HasAttr("kernel_shape") && !std::equal(w.kernel.begin(), w.kernel.end(), kernel.begin(), kernel.end())) {
      return Invalid("kernel_shape is not that of the weight, ", graph::ShapeText(kernel));
    }
    w.kernel.assign(kernel.begin(), kernel.end());
  }
  COBRA_ASSIGN_OR_RETURN(w.stride, Entries(c, "strides", n, 1, 1));
  COBRA_ASSIGN_OR_RETURN(w.dilation, Entries(c, "dilations", n, 1, 1));
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> pads, Entries(c, "pads", 2 * n, 0, -kMost));
  w.begin.assign(pads.begin(), pads.begin() + n);
  w.end.assign(pads.begin() + n, pads.end());
  const std::string auto_pad = c.String("auto_pad", "NOTSET");
  if (auto_pad == "NOTSET" || auto_pad.empty()) return w;
  if (auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER" && auto_pad != "VALID")
    return Invalid("auto_pad is ", auto_pad);
  w.begin.assign(n, 0);
  w.end.assign(n, 0);
  if (auto_pad == "VALID" || !resolve_auto_pad) return w;
  for (int i = 0; i < n; ++i) {
    const int64_t size = input[2 + i];
    const int64_t out = (size + w.stride[i] - 1) / w.stride[i];
    const int64_t total = std::max<int64_t>(0, (out - 1) * w.stride[i] + (w.kernel[i] - 1) * w.dilation[i] + 1 - size);
    w.begin[i] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    w.end[i] = total - w.begin[i];
  }
  return w;
}

absl::StatusOr<TensorPtr> PadSpatial(NodeContext& c, const TensorPtr& x, const Window& window, double value) {
  std::vector<int64_t> pad;  // starts with the last dimension
  for (int i = static_cast<int>(window.begin.size()) - 1; i >= 0; --i)
    pad.insert(pad.end(), {window.begin[i], window.end[i]});
  return c.Call(graph::Op::pad, {{"pad", pad}, {"mode", std::string("constant")}, {"value", value}}, {x});
}

absl::StatusOr<TensorPtr> Convolved(NodeContext& c, TensorPtr x, const TensorPtr& weight, const TensorPtr& bias) {
  constexpr graph::Op kConv[] = {graph::Op::conv1d, graph::Op::conv2d, graph::Op::conv3d};
  const int n = x->type.rank() - 2;
  if (n < 1 || n > 3)
    return Unsupported("an input of ", n + 2, " dimensions; convolutions of 1 to 3 spatial dimensions are supported");
  if (weight->type.rank() != n + 2)
    return Invalid("the weight ", graph::ShapeText(weight->type.shape), " does not fit the input ",
                   graph::ShapeText(x->type.shape));
  const graph::Shape kernel(weight->type.shape.begin() + 2, weight->type.shape.end());
  COBRA_ASSIGN_OR_RETURN(const Window window, ReadWindow(c, x->type.shape, kernel));
  std::vector<int64_t> padding = window.begin;
  if (window.begin != window.end) {
    COBRA_ASSIGN_OR_RETURN(x, PadSpatial(c, x, window, 0));
    padding.assign(n, 0);
  }
  return c.Call(
      kConv[n - 1],
      {{"stride", window.stride}, {"padding", padding}, {"dilation", window.dilation}, {"groups", c.Int("group", 1)}},
      {x, weight, bias});
}

}  // namespace cobra::onnx
