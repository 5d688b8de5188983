// Convolutions, and calls that move windows (unfold, fold).
#include <algorithm>

#include "export/onnx/handlers.h"

namespace cobra::exporting {
namespace {

Ints Both(const Ints& begin, const Ints& end) {
  Ints pads = begin;
  pads.insert(pads.end(), end.begin(), end.end());
  return pads;
}

// Adds a batch of one around a call whose input has none.
template <typename F>
std::string InBatch(CallWriter& c, int spatial, F call) {
  const bool batched = c.Rank(0) == spatial + 2;
  const std::string y = call(batched ? c.In(0) : c.Unsqueezed(c.In(0), {0}));
  return batched ? y : c.Squeezed(y, {0});
}

// A weight that copies element (i, j) of a window to output channel i * width + j: [height * width,
// 1, height, width].
std::string WindowWeight(CallWriter& c, const Ints& kernel, DType dtype) {
  const int64_t area = kernel[0] * kernel[1];
  std::vector<double> values(static_cast<size_t>(area * area), 0);
  for (int64_t i = 0; i < area; ++i) values[static_cast<size_t>(i * area + i)] = 1;
  return c.Numbers({{area, 1, kernel[0], kernel[1]}, dtype}, values);
}

}  // namespace

absl::StatusOr<Names> WriteConvolution(CallWriter& c) {
  const int n = c.WindowDims();
  const Ints stride = c.IntList("stride", n, 1), dilation = c.IntList("dilation", n, 1);
  const std::string text = c.String("padding");
  Ints begin = text.empty() ? c.IntList("padding", n, 0) : Ints(static_cast<size_t>(n), 0), end = begin;
  if (text == "same") {  // PyTorch puts the odd one at the end
    for (int i = 0; i < n; ++i) {
      const int64_t total = dilation[i] * (c.ShapeOf(1)[2 + i] - 1);
      begin[i] = total / 2;
      end[i] = total - begin[i];
    }
  }
  return Names{InBatch(c, n, [&](const std::string& x) {
    return c.Node("Conv", {x, c.In(1), c.In(2)},
                  {{"dilations", dilation},
                   {"group", c.Int("groups", 1)},
                   {"kernel_shape", Ints(c.ShapeOf(1).begin() + 2, c.ShapeOf(1).end())},
                   {"pads", Both(begin, end)},
                   {"strides", stride}});
  })};
}

absl::StatusOr<Names> WriteTransposedConvolution(CallWriter& c) {
  const int n = c.WindowDims();
  const Ints padding = c.IntList("padding", n, 0);
  return Names{InBatch(c, n, [&](const std::string& x) {
    return c.Node("ConvTranspose", {x, c.In(1), c.In(2)},
                  {{"dilations", c.IntList("dilation", n, 1)},
                   {"group", c.Int("groups", 1)},
                   {"kernel_shape", Ints(c.ShapeOf(1).begin() + 2, c.ShapeOf(1).end())},
                   {"output_padding", c.IntList("output_padding", n, 0)},
                   {"pads", Both(padding, padding)},
                   {"strides", c.IntList("stride", n, 1)}});
  })};
}

// [time, batch, channels], weight [width, in, out].
absl::StatusOr<Names> WriteConvTbc(CallWriter& c) {
  const int64_t pad = c.Int("pad");
  const std::string x = c.Transposed(c.In(0), {1, 2, 0}), weight = c.Transposed(c.In(1), {2, 1, 0});
  const std::string y = c.Node("Conv", {x, weight, c.In(2)}, {{"pads", Ints{pad, pad}}});
  return Names{c.Transposed(y, {2, 0, 1})};
}

// A convolution of each channel with weights that pick one element of the window each.
absl::StatusOr<Names> WriteUnfold(CallWriter& c) {
  const Ints kernel = c.IntList("kernel_size", 2, 1), padding = c.IntList("padding", 2, 0);
  const Shape& in = c.ShapeOf(0);
  const int64_t planes = in.size() == 4 ? in[0] * in[1] : in[0];
  const std::string x = c.Reshaped(c.In(0), {planes, 1, in[in.size() - 2], in[in.size() - 1]});
  const std::string y = c.Node("Conv", {x, WindowWeight(c, kernel, c.Type(0).dtype)},
                               {{"dilations", c.IntList("dilation", 2, 1)},
                                {"kernel_shape", kernel},
                                {"pads", Both(padding, padding)},
                                {"strides", c.IntList("stride", 2, 1)}});
  return Names{c.Reshaped(y, c.Out().shape)};
}

// The transposed one puts the elements back and sums where they meet.
absl::StatusOr<Names> WriteFold(CallWriter& c) {
  const Ints kernel = c.IntList("kernel_size", 2, 1), padding = c.IntList("padding", 2, 0);
  const Ints dilation = c.IntList("dilation", 2, 1), stride = c.IntList("stride", 2, 1);
  const Ints size = c.IntList("output_size", 2, 1);
  const int64_t area = kernel[0] * kernel[1];
  Ints blocks(2), extra(2);
  for (int i = 0; i < 2; ++i) {
    const int64_t reach = dilation[i] * (kernel[i] - 1) + 1;
    blocks[i] = (size[i] + 2 * padding[i] - reach) / stride[i] + 1;
    extra[i] = size[i] - ((blocks[i] - 1) * stride[i] + reach - 2 * padding[i]);
  }
  const int64_t planes = c.Type(0).num_elements() / std::max<int64_t>(1, area * blocks[0] * blocks[1]);
  const std::string x = c.Reshaped(c.In(0), {planes, area, blocks[0], blocks[1]});
  const std::string y = c.Node("ConvTranspose", {x, WindowWeight(c, kernel, c.Type(0).dtype)},
                               {{"dilations", dilation},
                                {"kernel_shape", kernel},
                                {"output_padding", extra},
                                {"pads", Both(padding, padding)},
                                {"strides", stride}});
  return Names{c.Reshaped(y, c.Out().shape)};
}

}  // namespace cobra::exporting
