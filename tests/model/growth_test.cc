// What physics says of every target, on random networks: twice the batch, or twice the width, takes
// no less time. Networks here are drawn by the test; training asks the same of others
// (model/training/rows/larger_network.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "graph/builder/net_builder.h"
#include "model/predict/predictor.h"

namespace cobra::predict {
namespace {

using graph::ValueRef;

// Convolutions of all kinds, norms, activations, pools, additions, a head.
graph::Graph RandomConvNet(uint64_t seed, int64_t batch, int64_t width) {
  std::mt19937_64 random(seed);
  const auto draw = [&random](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  graph::NetBuilder net;
  const int64_t size = 16 << draw(4);
  ValueRef x = net.Input({batch, 3, size, size});
  x = net.ConvBnRelu(x, {.out_channels = (8 << draw(3)) * width, .kernel_size = 3, .stride = 2, .padding = 1});
  for (int64_t layer = 2 + draw(8); layer > 0; --layer) {
    const int64_t channels = net.Channels(x);
    switch (draw(5)) {
      case 0: x = net.ConvBnRelu(x, {.out_channels = channels, .kernel_size = 3, .padding = 1}); break;
      case 1: x = net.ConvBnRelu(x, {.out_channels = channels * (1 + draw(2)), .kernel_size = 1}); break;
      case 2:
        x = net.ConvBnRelu(x, {.out_channels = channels, .kernel_size = 3, .padding = 1, .groups = channels});
        break;
      case 3: x = net.Add(x, net.ConvBn(x, {.out_channels = channels, .kernel_size = 3, .padding = 1})); break;
      default:
        if (net.Dim(x, 2) >= 4) x = net.MaxPool2d(x, {.kernel_size = 2, .stride = 2});
    }
  }
  x = net.Linear(net.Flatten(net.AdaptiveAvgPool2d(x, 1)), 100);
  return std::move(net).Finish({x}).value();
}

graph::Graph RandomPerceptron(uint64_t seed, int64_t batch, int64_t width) {
  std::mt19937_64 random(seed);
  const auto draw = [&random](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  graph::NetBuilder net;
  ValueRef x = net.Input({batch, 1 << (2 + draw(6)), (32 << draw(5)) * width});
  for (int64_t layer = 1 + draw(6); layer > 0; --layer) {
    x = net.Linear(net.LayerNorm(x), (32 << draw(5)) * width);
    if (draw(2) == 0) x = net.Relu(x);
  }
  return std::move(net).Finish({x}).value();
}

TEST(Growth, TwiceTheBatchOrTheWidthTakesNoLess) {
  const auto predictor = Predictor::Load(COBRA_SOURCE_DIR "/model/pretrained").value();
  std::map<std::string, std::vector<double>> of;
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    const auto net = [seed](int64_t batch, int64_t width) {
      return seed % 3 == 0 ? RandomPerceptron(seed, batch, width) : RandomConvNet(seed, batch, width);
    };
    const int64_t batch = int64_t{1} << (seed % 5);
    const graph::Graph base = net(batch, 1), larger = net(2 * batch, 1), wider = net(batch, 2);
    const graph::Graph alone = net(1, 1), wider_alone = net(1, 2);
    for (const TargetInfo& target : predictor->targets()) {
      const auto us = [&](const graph::Graph& g) { return predictor->Predict(g, target.spec.name)->latency_us; };
      const double once = us(base);
      // ncnn runs one sample at a time, and was timed so: an answer for a batch is a guess, and
      // says so.
      const bool is_ncnn = RuntimeFamily(target.spec) == "ncnn";
      const std::string kind = target.spec.kind + (is_ncnn ? " ncnn" : "");
      of[kind + " batch"].push_back(us(larger) / once);
      of[kind + " width"].push_back(is_ncnn ? us(wider_alone) / us(alone) : us(wider) / once);
    }
  }
  // Not always, but nearly: what launches kernels for most of its time is predicted within some
  // percent of itself.
  for (auto& [kind, ratios] : of) {
    std::sort(ratios.begin(), ratios.end());
    const auto at = [&r = ratios](double q) { return r[static_cast<size_t>(q * static_cast<double>(r.size() - 1))]; };
    ASSERT_GT(ratios.size(), 500U) << kind;
    // Those of ncnn's GPUs have one to five networks each; their batches are a guess
    // (docs/targets.md).
    EXPECT_GT(at(0.01), kind == "gpu ncnn batch" ? 0.7 : kind == "gpu ncnn width" ? 0.84 : 0.88) << kind;
    EXPECT_GT(at(0.05), 0.93) << kind;
    EXPECT_GT(at(0.5), 1.02) << kind;  // small batches on a GPU may wait for its host
  }
}

}  // namespace
}  // namespace cobra::predict
