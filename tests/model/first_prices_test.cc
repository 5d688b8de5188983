#include "model/fit/first_prices.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/predict/features.h"

namespace cobra::fit {
namespace {

using predict::TargetSpec;
using predict::WorkTerm;

// Log-latency of one call with so much work of one kind, by a net that was not trained.
double LogLatency(net::CobraNet& net, WorkTerm term, double amount, const TargetSpec& spec) {
  at::Tensor work = at::full({1, predict::kWorkTerms}, predict::kNoWork);
  work[0][term] = std::log(amount);
  auto features = predict::TargetSpecFeatures(spec);
  const at::Tensor row = at::from_blob(features.data(), {1, predict::kTargetSpecFeatures}).clone();
  const at::Tensor target = net.TargetFeatures(row, at::zeros({1}, at::kLong));
  return net.layer_head->forward(at::zeros({1, 96}), work, target)[0].item<double>();
}

TargetSpec Gpu(double peak_gflops, double memory_gb_per_s) {
  TargetSpec spec;
  spec.kind = "gpu";
  spec.peak_gflops = spec.convolution_gflops = spec.depthwise_gflops = peak_gflops;
  spec.memory_gb_per_s = memory_gb_per_s;
  return spec;
}

TEST(FirstPrices, AGpuBeginsWithItsDataSheet) {
  torch::manual_seed(1);
  net::NetConfig config;
  config.vocabulary_size = 10;
  config.value_features = 2;
  config.target_features = predict::kTargetSpecFeatures + net::kLearnedTargetFeatures;
  config.graph_features = predict::kGraphFeatures;
  config.work_terms = predict::kWorkTerms;
  net::CobraNet net(config, 1);
  StartWithDataSheets(&net);
  at::NoGradGuard no_grad;
  // Ten times the peak: a tenth of the time of a product, nothing for a copy; the weights that are random change it by
  // less than a fifth.
  const TargetSpec slow = Gpu(8000, 400), fast = Gpu(80000, 400), wide = Gpu(8000, 4000);
  const double product = LogLatency(net, predict::kProductMacs, 1e9, slow);
  EXPECT_NEAR(product - LogLatency(net, predict::kProductMacs, 1e9, fast), std::log(10), 0.2);
  EXPECT_NEAR(product - LogLatency(net, predict::kProductMacs, 1e9, wide), 0, 0.2);
  const double copy = LogLatency(net, predict::kWrittenBytes, 1e8, slow);
  EXPECT_NEAR(copy - LogLatency(net, predict::kWrittenBytes, 1e8, wide), std::log(10), 0.2);
  EXPECT_NEAR(copy - LogLatency(net, predict::kWrittenBytes, 1e8, fast), 0, 0.2);
  // 1e9 multiply-accumulates are 2 GFLOP: 250 us at the peak of 8 TFLOPS; 100 MB at 400 GB/s likewise.
  EXPECT_NEAR(product, std::log(250), 1);
  EXPECT_NEAR(copy, std::log(250), 1);
}

}  // namespace
}  // namespace cobra::fit
