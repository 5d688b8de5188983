#include "worker/sample/blocks.h"

#include <algorithm>

namespace cobra::worker {

int64_t RoundTo8(double value) { return std::max<int64_t>(8, static_cast<int64_t>(value / 8 + 0.5) * 8); }

graph::ValueRef SqueezeExcite(graph::NetBuilder* b, graph::ValueRef x, int64_t squeeze, graph::Op activation,
                              graph::Op gate) {
  graph::ValueRef s = b->Conv2d(b->AdaptiveAvgPool2d(x, 1), {.out_channels = squeeze, .kernel_size = 1, .bias = true});
  s = activation == graph::Op::silu ? b->CallInPlace(activation, {}, {s}) : b->Call(activation, {}, {s});
  s = b->Conv2d(s, {.out_channels = b->Channels(x), .kernel_size = 1, .bias = true});
  return b->Call(graph::Op::mul, {}, {b->Call(gate, {}, {s}), x});
}

graph::ValueRef ResidualBlock(graph::NetBuilder* b, graph::ValueRef x, const ResNetConfig& c, int64_t planes,
                              int64_t stride) {
  const int64_t out = c.bottleneck ? planes * 4 : planes;
  graph::ValueRef y;
  if (c.bottleneck) {
    const int64_t width = std::max<int64_t>(1, planes * c.group_width / 64) * c.groups;
    y = b->ConvBnRelu(x, {.out_channels = width, .kernel_size = 1});
    y = b->ConvBnRelu(y, {.out_channels = width, .kernel_size = 3, .stride = stride, .padding = 1, .groups = c.groups});
    y = b->ConvBn(y, {.out_channels = out, .kernel_size = 1});
  } else {
    y = b->ConvBnRelu(x, {.out_channels = planes, .kernel_size = 3, .stride = stride, .padding = 1});
    y = b->ConvBn(y, {.out_channels = planes, .kernel_size = 3, .padding = 1});
  }
  if (c.excite) y = SqueezeExcite(b, y, RoundTo8(out / 16.0), graph::Op::relu, graph::Op::sigmoid);
  const bool projects = stride != 1 || b->Channels(x) != out;
  const graph::ValueRef identity =
      projects ? b->ConvBn(x, {.out_channels = out, .kernel_size = 1, .stride = stride}) : x;
  return b->ReluInPlace(b->AddInPlace(y, identity));
}

graph::ValueRef Activate(graph::NetBuilder* b, graph::ValueRef x, int activation) {
  switch (activation) {
    case 0: return b->ReluInPlace(x);
    case 1: return b->Relu6InPlace(x);
    case 2: return b->CallInPlace(graph::Op::hardswish, {}, {x});
    default: return b->CallInPlace(graph::Op::silu, {}, {x});
  }
}

graph::ValueRef InvertedResidual(graph::NetBuilder* b, graph::ValueRef x, const Mobile& m, int64_t out, int64_t stride,
                                 int64_t kernel, double expand) {
  const int64_t in = b->Channels(x), hidden = expand == 1 ? in : RoundTo8(in * expand);
  graph::ValueRef y = x;
  if (expand != 1) y = Activate(b, b->ConvBn(y, {.out_channels = hidden, .kernel_size = 1}), m.activation);
  y = Activate(
      b,
      b->ConvBn(
          y,
          {.out_channels = hidden, .kernel_size = kernel, .stride = stride, .padding = kernel / 2, .groups = hidden}),
      m.activation);
  if (m.excite) {
    y = SqueezeExcite(b, y, RoundTo8(hidden / 4.0), m.activation == 3 ? graph::Op::silu : graph::Op::relu,
                      m.activation == 3 ? graph::Op::sigmoid : graph::Op::hardsigmoid);
  }
  y = b->ConvBn(y, {.out_channels = out, .kernel_size = 1});
  if (stride != 1 || in != out) return y;
  return m.activation == 3 ? b->AddInPlace(y, x) : b->Add(x, y);
}

}  // namespace cobra::worker
