// Conv, ConvTranspose.
#include <algorithm>
#include <numeric>

#include "base/status_macros.h"
#include "frontend/onnx/importer/registry.h"
#include "frontend/onnx/operators/window.h"

namespace cobra::onnx {
namespace {

constexpr graph::Op kConvTranspose[] = {graph::Op::conv_transpose1d, graph::Op::conv_transpose2d,
                                        graph::Op::conv_transpose3d};

absl::StatusOr<int> SpatialDims(const NodeContext& c) {
  const int n = c.Rank(0) - 2;
  if (n < 1 || n > 3)
    return Unsupported("an input of ", c.Rank(0),
                       " dimensions; convolutions of 1 to 3 spatial dimensions are supported");
  if (c.Rank(1) != n + 2)
    return Invalid("the weight ", graph::ShapeText(c.ShapeOf(1)), " does not fit the input ",
                   graph::ShapeText(c.ShapeOf(0)));
  return n;
}

absl::StatusOr<Outputs> Conv(NodeContext& c) { return c.Out(Convolved(c, c.In(0), c.In(1), c.In(2))); }

// The padding that makes the output `wanted` elements long: the larger half goes to the beginning,
// or to the end (SAME_UPPER).
void PadForOutput(int64_t input, int64_t wanted, int64_t extra, bool upper, int i, Window* window) {
  const int64_t total =
      window->stride[i] * (input - 1) + extra + (window->kernel[i] - 1) * window->dilation[i] + 1 - wanted;
  const int64_t half = total >= 0 ? total / 2 : -((-total + 1) / 2);
  window->begin[i] = upper ? half : total - half;
  window->end[i] = total - window->begin[i];
}

absl::StatusOr<Outputs> ConvTranspose(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const int n, SpatialDims(c));
  COBRA_ASSIGN_OR_RETURN(Window window,
                         ReadWindow(c, c.ShapeOf(0), graph::Shape(c.ShapeOf(1).begin() + 2, c.ShapeOf(1).end()),
                                    /*resolve_auto_pad=*/false));
  std::vector<int64_t> extra = c.Ints("output_padding");
  if (extra.empty()) extra.assign(n, 0);
  const std::vector<int64_t> wanted = c.Ints("output_shape");
  if (static_cast<int>(extra.size()) != n || (!wanted.empty() && static_cast<int>(wanted.size()) < n)) {
    return Invalid("output_padding and output_shape must have ", n, " entries");
  }
  const std::string auto_pad = c.String("auto_pad", "NOTSET");
  for (int i = 0; i < n; ++i) {
    const int64_t input = c.ShapeOf(0)[2 + i];
    if (!wanted.empty()) {
      PadForOutput(input, wanted[wanted.size() - n + i], extra[i], auto_pad == "SAME_UPPER", i, &window);
    } else if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
      PadForOutput(input, input * window.stride[i], extra[i], auto_pad == "SAME_UPPER", i, &window);
    }
  }
  std::vector<int64_t> padding(n), trim;
  for (int i = 0; i < n; ++i) padding[i] = std::max<int64_t>(0, std::min(window.begin[i], window.end[i]));
  for (int i = n - 1; i >= 0; --i) trim.insert(trim.end(), {padding[i] - window.begin[i], padding[i] - window.end[i]});
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Call(kConvTranspose[n - 1],
                                             {{"stride", window.stride},
                                              {"padding", padding},
                                              {"output_padding", extra},
                                              {"groups", c.Int("group", 1)},
                                              {"dilation", window.dilation}},
                                             {c.In(0), c.In(1), c.In(2)}));
  if (std::count(trim.begin(), trim.end(), 0) == static_cast<int64_t>(trim.size())) return Outputs{y};
  // Outside the window's reach the result is the bias alone, which a padding with 0 does not give.
  if (c.Has(2) && *std::max_element(trim.begin(), trim.end()) > 0)
    return Unsupported("an output_shape beyond the window's reach, with a bias");
  return c.Out(c.Call(graph::Op::pad, {{"pad", trim}, {"mode", std::string("constant")}, {"value", 0.0}}, {y}));
}

// As torchvision has it. Inputs: x, weight, offset, bias, mask.
absl::StatusOr<Outputs> DeformConv(NodeContext& c) {
  if (c.Rank(0) != 4 || c.Rank(1) != 4) return Unsupported("an input of ", c.Rank(0), " dimensions; 4 are supported");
  COBRA_ASSIGN_OR_RETURN(const Window window,
                         ReadWindow(c, c.ShapeOf(0), graph::Shape(c.ShapeOf(1).begin() + 2, c.ShapeOf(1).end())));
  if (window.begin != window.end) return Unsupported("a padding that differs between the sides");
  const int64_t groups = c.Int("group", 1);
  if (groups < 1 || c.ShapeOf(1)[1] > INT64_MAX / groups || c.ShapeOf(1)[1] * groups != c.ShapeOf(0)[1])
    return Invalid("the weight ", graph::ShapeText(c.ShapeOf(1)), " and group=", groups, " do not fit the input ",
                   graph::ShapeText(c.ShapeOf(0)));
  return c.Out(c.Call(graph::Op::deform_conv2d,
                      {{"stride", window.stride},
                       {"padding", window.begin},
                       {"dilation", window.dilation},
                       {"n_weight_grps", groups},
                       {"n_offset_grps", c.Int("offset_group", 1)},
                       {"use_mask", c.Has(4)}},
                      {c.In(0), c.In(1), c.In(2), c.In(4), c.In(3)}));
}

}  // namespace

void AddConvolutionOperators(Registry* registry) {
  registry->Add("Conv", {Conv, 2, false, "1 to 3 spatial dimensions"});
  registry->Add("DeformConv", {DeformConv, 3, false, "2 spatial dimensions"});
  registry->Add("ConvTranspose", {ConvTranspose, 2, false, "1 to 3 spatial dimensions"});
}

}  // namespace cobra::onnx
