#include "model/predict/adapt/reference_networks.h"

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "graph/builder/net_builder.h"

namespace cobra::predict {
namespace {

using graph::NetBuilder;
using graph::ValueRef;

ValueRef Classify(NetBuilder& net, ValueRef x) { return net.Linear(net.Flatten(net.AdaptiveAvgPool2d(x, 1)), 1000); }

ValueRef Bottleneck(NetBuilder& net, ValueRef x, int64_t width, int64_t stride, int64_t groups) {
  ValueRef y = net.ConvBnRelu(x, {.out_channels = width});
  y = net.ConvBnRelu(y, {.out_channels = width, .kernel_size = 3, .stride = stride, .padding = 1, .groups = groups});
  y = net.ConvBn(y, {.out_channels = 4 * width});
  const bool is_same = stride == 1 && net.Channels(x) == 4 * width;
  const ValueRef skip = is_same ? x : net.ConvBn(x, {.out_channels = 4 * width, .stride = stride});
  return net.ReluInPlace(net.AddInPlace(y, skip));
}

ValueRef BasicBlock(NetBuilder& net, ValueRef x, int64_t width, int64_t stride) {
  ValueRef y = net.ConvBnRelu(x, {.out_channels = width, .kernel_size = 3, .stride = stride, .padding = 1});
  y = net.ConvBn(y, {.out_channels = width, .kernel_size = 3, .padding = 1});
  const bool is_same = stride == 1 && net.Channels(x) == width;
  const ValueRef skip = is_same ? x : net.ConvBn(x, {.out_channels = width, .stride = stride});
  return net.ReluInPlace(net.AddInPlace(y, skip));
}

struct Image {
  int64_t batch = 1, size = 224;
};

enum class Block { kBasic, kBottleneck, kGrouped };

absl::StatusOr<graph::Graph> Residual(const Image& image, Block block, int64_t width, int depth) {
  NetBuilder net;
  ValueRef x = net.Input({image.batch, 3, image.size, image.size});
  x = net.ConvBnRelu(x, {.out_channels = width, .kernel_size = 7, .stride = 2, .padding = 3});
  x = net.MaxPool2d(x, {.kernel_size = 3, .stride = 2, .padding = 1});
  for (int stage = 0; stage < 4; ++stage) {
    for (int i = 0; i < depth; ++i) {
      const int64_t stride = stage > 0 && i == 0 ? 2 : 1, of_stage = width << stage;
      x = block == Block::kBasic ? BasicBlock(net, x, of_stage, stride)
                                 : Bottleneck(net, x, of_stage, stride, block == Block::kGrouped ? 16 : 1);
    }
  }
  return std::move(net).Finish({Classify(net, x)});
}

// Inverted residuals, as in mobile networks.
absl::StatusOr<graph::Graph> Mobile(const Image& image, int64_t width, int depth, int64_t kernel) {
  NetBuilder net;
  ValueRef x = net.Input({image.batch, 3, image.size, image.size});
  x = net.Relu6InPlace(net.ConvBn(x, {.out_channels = width, .kernel_size = 3, .stride = 2, .padding = 1}));
  for (int stage = 0; stage < 4; ++stage) {
    for (int i = 0; i < depth; ++i) {
      const int64_t wide = 6 * net.Channels(x), stride = i == 0 ? 2 : 1;
      ValueRef y = net.Relu6InPlace(net.ConvBn(x, {.out_channels = wide}));
      y = net.Relu6InPlace(net.ConvBn(
          y, {.out_channels = wide, .kernel_size = kernel, .stride = stride, .padding = kernel / 2, .groups = wide}));
      y = net.ConvBn(y, {.out_channels = width << (stage == 3 ? 2 : stage)});
      x = stride == 1 ? net.Add(x, y) : y;
    }
  }
  return std::move(net).Finish({Classify(net, net.ConvBnRelu(x, {.out_channels = 16 * width}))});
}

// Convolutions one after the other, and large products at the end.
absl::StatusOr<graph::Graph> Plain(const Image& image, int64_t width) {
  NetBuilder net;
  ValueRef x = net.Input({image.batch, 3, image.size, image.size});
  for (int stage = 0; stage < 4; ++stage) {
    for (int i = 0; i < 2; ++i)
      x = net.ReluInPlace(
          net.Conv2d(x, {.out_channels = width << stage, .kernel_size = 3, .padding = 1, .bias = true}));
    x = net.MaxPool2d(x, {.kernel_size = 2, .stride = 2});
  }
  x = net.ReluInPlace(net.Linear(net.Flatten(net.AdaptiveAvgPool2d(x, 5)), 2048));
  return std::move(net).Finish({net.Linear(x, 1000)});
}

absl::StatusOr<graph::Graph> Dense(const Image& image, int64_t growth, int depth) {
  NetBuilder net;
  ValueRef x = net.Input({image.batch, 3, image.size, image.size});
  x = net.ConvBnRelu(x, {.out_channels = 2 * growth, .kernel_size = 7, .stride = 2, .padding = 3});
  for (int stage = 0; stage < 3; ++stage) {
    x = net.AvgPool2d(x, {.kernel_size = 2, .stride = 2});
    for (int i = 0; i < depth; ++i) {
      const ValueRef y = net.Conv2d(net.ReluInPlace(net.BatchNorm2d(x)), {.out_channels = 4 * growth});
      const ValueRef z =
          net.Conv2d(net.ReluInPlace(net.BatchNorm2d(y)), {.out_channels = growth, .kernel_size = 3, .padding = 1});
      x = net.Cat({x, z}, 1);
    }
    x = net.ConvBnRelu(x, {.out_channels = net.Channels(x) / 2});
  }
  return std::move(net).Finish({Classify(net, x)});
}

struct Tokens {
  int64_t batch = 1, count = 128;
};

absl::StatusOr<graph::Graph> Transformer(const Tokens& tokens, int64_t width, int depth) {
  NetBuilder net;
  ValueRef x = net.Input({tokens.batch, tokens.count, width});
  const auto swapped = [&net](ValueRef v, int64_t a, int64_t b) {
    return net.Call(graph::Op::transpose, {{"dim0", a}, {"dim1", b}}, {v});
  };
  for (int i = 0; i < depth; ++i) {
    const ValueRef y = net.LayerNorm(x);
    const auto heads = [&] {
      return swapped(net.View(net.Linear(y, width), {tokens.batch, tokens.count, width / 64, 64}), 1, 2);
    };
    const ValueRef query = heads(), key = heads(), value = heads();
    const ValueRef scores = net.Call(graph::Op::softmax, {{"dim", int64_t{-1}}},
                                     {net.Call(graph::Op::matmul, {}, {query, swapped(key, -2, -1)})});
    const ValueRef mixed = net.Contiguous(swapped(net.Call(graph::Op::matmul, {}, {scores, value}), 1, 2));
    x = net.Add(x, net.Linear(net.View(mixed, {tokens.batch, tokens.count, width}), width));
    x = net.Add(x, net.Linear(net.Call(graph::Op::gelu, {}, {net.Linear(net.LayerNorm(x), 4 * width)}), width));
  }
  return std::move(net).Finish({net.Linear(net.LayerNorm(x), 1000)});
}

}  // namespace

const std::vector<graph::Graph>& ReferenceNetworks() {
  static const std::vector<graph::Graph>* const networks = [] {
    auto* all = new std::vector<graph::Graph>;
    // Of kinds that take turns: any few at the beginning are a mixture.
    for (absl::StatusOr<graph::Graph>& network : std::vector<absl::StatusOr<graph::Graph>>{
             Residual({}, Block::kBasic, 64, 2), Mobile({}, 16, 2, 3), Transformer({}, 256, 4),
             Plain({.size = 128}, 32), Residual({.size = 160}, Block::kBottleneck, 48, 2), Dense({}, 24, 4),
             Mobile({.size = 320}, 24, 2, 3), Residual({.size = 96}, Block::kBasic, 24, 1),
             Residual({}, Block::kGrouped, 64, 1), Transformer({4, 64}, 384, 3), Plain({.size = 224}, 48),
             Mobile({.batch = 4, .size = 128}, 16, 2, 5),
             Residual({.batch = 4, .size = 128}, Block::kBottleneck, 64, 1), Dense({.size = 128}, 32, 6),
             Transformer({1, 512}, 192, 2), Residual({.size = 320}, Block::kBasic, 32, 2)}) {
      if (network.ok()) all->push_back(*std::move(network));
    }
    return all;
  }();
  return *networks;
}

}  // namespace cobra::predict
