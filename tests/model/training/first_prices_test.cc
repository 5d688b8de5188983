#include "model/training/first_prices.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/predict/work/features.h"

namespace cobra::training {
namespace {

using predict::TargetSpec;
using predict::WorkTerm;

// Log-latency of one call (all numbers of its vector are `call`) with so much work of one kind, by
// a net that was not trained.
double LogLatency(net::CobraNet& net, WorkTerm term, double amount, const TargetSpec& spec, double call = 0) {
  at::Tensor work = at::full({1, predict::kWorkTerms}, predict::kNoWork);
  work[0][term] = std::log(amount);
  auto features = predict::TargetSpecFeatures(spec);
  const at::Tensor row = at::from_blob(features.data(), {1, predict::kTargetSpecFeatures}).clone();
  const at::Tensor target = net.TargetFeatures(row, at::zeros({1}, at::kLong));
  return net.layer_head->forward(at::full({1, 96}, call), work, target, {})[0].item<double>();
}

TargetSpec Gpu(double peak_gflops, double memory_gb_per_s) {
  TargetSpec spec;
  spec.kind = "gpu";
  spec.peak_gflops = spec.convolution_gflops = spec.depthwise_gflops = peak_gflops;
  spec.memory_gb_per_s = memory_gb_per_s;
  return spec;
}

net::CobraNet NewNet() {
  torch::manual_seed(1);
  net::NetConfig config;
  config.vocabulary_size = 10;
  config.value_features = 2;
  config.target_features = predict::kTargetSpecFeatures + net::kLearnedTargetFeatures;
  config.graph_features = predict::kGraphFeatures;
  config.work_terms = predict::kWorkTerms;
  net::CobraNet net(config, 1);
  StartWithDataSheets(&net);
  return net;
}

// Microseconds of a network of `calls` calls, each of which takes `call_us` alone, by a net that
// was not trained.
double NetworkUs(net::CobraNet& net, int64_t calls, double call_us, const TargetSpec& spec) {
  auto features = predict::TargetSpecFeatures(spec);
  const at::Tensor row = at::from_blob(features.data(), {1, predict::kTargetSpecFeatures}).clone();
  const at::Tensor none = at::zeros({0}, at::kLong);
  const net::GraphBatch batch{none,
                              none,
                              at::zeros({calls}, at::kLong),
                              at::zeros({1, predict::kGraphFeatures}),
                              net.TargetFeatures(row, at::zeros({1}, at::kLong)),
                              at::Tensor()};
  const at::Tensor log_us = net.graph_net->forward(at::zeros({calls, 96}), at::full({calls}, std::log(call_us)), batch);
  return net::SumContributions(log_us, batch)[0].item<double>();
}

TEST(FirstPrices, AGpuBeginsWithItsDataSheet) {
  net::CobraNet net = NewNet();
  at::NoGradGuard no_grad;
  // Ten times the peak: a tenth of the time of a product, nothing for a copy; the weights that are
  // random change it by less than a fifth.
  const TargetSpec slow = Gpu(8000, 400), fast = Gpu(80000, 400), wide = Gpu(8000, 4000);
  const double product = LogLatency(net, predict::kProductMacs, 1e9, slow);
  EXPECT_NEAR(product - LogLatency(net, predict::kProductMacs, 1e9, fast), std::log(10), 0.2);
  EXPECT_NEAR(product - LogLatency(net, predict::kProductMacs, 1e9, wide), 0, 0.2);
  const double copy = LogLatency(net, predict::kWrittenBytes, 1e8, slow);
  EXPECT_NEAR(copy - LogLatency(net, predict::kWrittenBytes, 1e8, wide), std::log(10), 0.2);
  EXPECT_NEAR(copy - LogLatency(net, predict::kWrittenBytes, 1e8, fast), 0, 0.2);
  // 1e9 multiply-accumulates are 2 GFLOP: 250 us at the peak of 8 TFLOPS; 100 MB at 400 GB/s
  // likewise.
  EXPECT_NEAR(product, std::log(250), 1);
  EXPECT_NEAR(copy, std::log(250), 1);
}

// A run takes its time whatever it computes: longer where a GPU has to be reached, and where a
// compiled graph's guards are checked.
TEST(FirstPrices, ARunTakesTimeBesideItsCalls) {
  net::CobraNet net = NewNet();
  at::NoGradGuard no_grad;
  TargetSpec cpu, gpu = Gpu(8000, 400), compiled = gpu;
  cpu.kind = "cpu";
  compiled.compile = "inductor";
  const double small = 0.001;
  EXPECT_LT(NetworkUs(net, 1, small, cpu), 0.1);
  EXPECT_NEAR(NetworkUs(net, 1, small, gpu), 20, 5);
  EXPECT_GT(NetworkUs(net, 1, small, compiled), 3 * NetworkUs(net, 1, small, gpu));
  // Once, not for each call.
  EXPECT_NEAR(NetworkUs(net, 100, small, gpu), NetworkUs(net, 1, small, gpu), 0.2);
}

// A family of networks that is left out of training has nearly all of such steps: nothing else
// would hold the price.
TEST(FirstPrices, TheStepOfAThreadKeepsItsPrice) {
  net::CobraNet net = NewNet();
  at::NoGradGuard no_grad;
  auto of_head = net.layer_head->named_parameters();
  for (const char* name : {"out.weight", "out.bias", "target_prices.weight"}) of_head[name].add_(0.5);  // training
  const TargetSpec slow = Gpu(8000, 400), fast = Gpu(80000, 4000);
  const double one_call = LogLatency(net, predict::kOneCall, 1, slow);
  EXPECT_GT(std::abs(LogLatency(net, predict::kThreadSteps, 1e6, slow) - std::log(1e6)), 0.5);
  HoldPrices(&net);
  EXPECT_NEAR(LogLatency(net, predict::kThreadSteps, 1e6, slow), std::log(0.4e6), 0.01);
  EXPECT_NEAR(LogLatency(net, predict::kThreadSteps, 1e6, fast), std::log(0.4e6), 0.01);
  EXPECT_EQ(LogLatency(net, predict::kOneCall, 1, slow), one_call);
}

TEST(FirstPrices, AKernelThatMovesBytesHasOnePriceForAllCalls) {
  net::CobraNet net = NewNet();
  at::NoGradGuard no_grad;
  net.layer_head->named_parameters()["out.weight"].normal_();  // training
  const TargetSpec gpu = Gpu(8000, 400);
  const auto of_calls = [&](WorkTerm term) {
    return std::abs(LogLatency(net, term, 1e8, gpu, /*call=*/1) - LogLatency(net, term, 1e8, gpu, /*call=*/-1));
  };
  EXPECT_GT(of_calls(predict::kStridedBytes), 0.1);
  EXPECT_FALSE(HoldsPrices(net));
  HoldPrices(&net);
  EXPECT_TRUE(HoldsPrices(net));
  EXPECT_NEAR(of_calls(predict::kStridedBytes), 0, 0.01);
  EXPECT_GT(of_calls(predict::kReadBytes), 0.1);
}

}  // namespace
}  // namespace cobra::training
