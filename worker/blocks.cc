#include "worker/blocks.h"

#include <algorithm>

namespace cobra::worker {

int64_t RoundTo8(double value) { return std::max<int64_t>(8, static_cast<int64_t>(value / 8 + 0.5) * 8); }

graph::ValueRef SqueezeExcite(NetBuilder* b, graph::ValueRef x, int64_t squeeze, graph::Op activation, graph::Op gate) {
  graph::ValueRef s = b->Conv(b->AdaptiveAvgPool(x, 1), {squeeze, 1, 1, 0, 1, 1, true});
  s = b->Call(activation, {}, {s}, activation == graph::Op::silu);
  s = b->Conv(s, {b->Channels(x), 1, 1, 0, 1, 1, true});
  return b->Call(graph::Op::mul, {}, {b->Call(gate, {}, {s}), x});
}

graph::ValueRef ResidualBlock(NetBuilder* b, graph::ValueRef x, const ResNetConfig& c, int64_t planes, int64_t stride) {
  const int64_t out = c.bottleneck ? planes * 4 : planes;
  graph::ValueRef y;
  if (c.bottleneck) {
    const int64_t width = std::max<int64_t>(1, planes * c.group_width / 64) * c.groups;
    y = b->ConvBnRelu(x, {width, 1});
    y = b->ConvBnRelu(y, {width, 3, stride, 1, c.groups});
    y = b->ConvBn(y, {out, 1});
  } else {
    y = b->ConvBnRelu(x, {planes, 3, stride, 1});
    y = b->ConvBn(y, {planes, 3, 1, 1});
  }
  if (c.excite) y = SqueezeExcite(b, y, RoundTo8(out / 16.0), graph::Op::relu, graph::Op::sigmoid);
  const bool projects = stride != 1 || b->Channels(x) != out;
  const graph::ValueRef identity = projects ? b->ConvBn(x, {out, 1, stride}) : x;
  return b->Relu(b->Add(y, identity, /*inplace=*/true));
}

graph::ValueRef Activate(NetBuilder* b, graph::ValueRef x, int activation) {
  switch (activation) {
    case 0: return b->Relu(x);
    case 1: return b->Relu6(x);
    case 2: return b->Call(graph::Op::hardswish, {}, {x}, true);
    default: return b->Call(graph::Op::silu, {}, {x}, true);
  }
}

graph::ValueRef InvertedResidual(NetBuilder* b, graph::ValueRef x, const Mobile& m, int64_t out, int64_t stride,
                                 int64_t kernel, double expand) {
  const int64_t in = b->Channels(x), hidden = expand == 1 ? in : RoundTo8(in * expand);
  graph::ValueRef y = x;
  if (expand != 1) y = Activate(b, b->ConvBn(y, {hidden, 1}), m.activation);
  y = Activate(b, b->ConvBn(y, {hidden, kernel, stride, kernel / 2, hidden}), m.activation);
  if (m.excite) {
    y = SqueezeExcite(b, y, RoundTo8(hidden / 4.0), m.activation == 3 ? graph::Op::silu : graph::Op::relu,
                      m.activation == 3 ? graph::Op::sigmoid : graph::Op::hardsigmoid);
  }
  y = b->ConvBn(y, {out, 1});
  return stride == 1 && in == out ? b->Add(m.activation == 3 ? y : x, m.activation == 3 ? x : y, m.activation == 3) : y;
}

}  // namespace cobra::worker
