#include "model/predict/price/product_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "graph/builder/net_builder.h"
#include "model/training/rows/dataset.h"

namespace cobra::predict {
namespace {

using graph::NetBuilder;
using graph::ValueRef;

TargetSpec Gpu() {
  TargetSpec spec;
  spec.kind = "gpu";
  spec.runtime = "torch-2.5.0";
  spec.compile = "eager";
  spec.precision = "bfloat16";
  spec.peak_gflops = 1e6;
  spec.memory_gb_per_s = 2000;
  spec.last_level_cache_mb = 50;
  spec.cores = 100;
  return spec;
}

// `layers` linear layers of [rows, width].
graph::Graph Perceptron(int64_t rows, int64_t width, int layers) {
  NetBuilder net;
  ValueRef x = net.Input({rows, width});
  for (int i = 0; i < layers; ++i) x = net.Linear(x, width);
  return std::move(net).Finish({x}).value();
}

double TotalLeastUs(const graph::Graph& graph, const TargetSpec& spec) {
  const ProductTime time(spec, graph);
  double us = 0;
  for (size_t call = 0; call < graph.nodes().size(); ++call) us += time.LeastUs(static_cast<int32_t>(call));
  return us;
}

TEST(ProductTime, OneRowTakesTheReadingOfItsWeights) {
  const graph::Graph graph = Perceptron(1, 8192, 20);
  const double weights = 20 * 2.0 * (8192 * 8192 + 8192);
  EXPECT_NEAR(TotalLeastUs(graph, Gpu()), (weights - 5e7) / 2e6, 1);
  const double each_us = weights / 20 / 2e6, most_us = ProductTime(Gpu(), graph).MostUs(3);
  EXPECT_GT(most_us, 1.5 * each_us);
  EXPECT_LT(most_us, 1.5 * each_us + 40);
}

TEST(ProductTime, ACacheThatHoldsAllWeightsReadsNone) {
  TargetSpec large = Gpu();
  large.last_level_cache_mb = 4000;
  const graph::Graph graph = Perceptron(1, 8192, 20);
  EXPECT_NEAR(TotalLeastUs(graph, large), 20 * 2.0 * 8192 * 8192 / 1e9, 0.1);  // its arithmetic
}

TEST(ProductTime, ManyRowsTakeTheirArithmetic) {
  const graph::Graph graph = Perceptron(8192, 8192, 2);
  const double each_us = 2.0 * 8192 * 8192 * 8192 / 1e9;
  EXPECT_NEAR(TotalLeastUs(graph, Gpu()), 2 * each_us, 1);
  const double most_us = ProductTime(Gpu(), graph).MostUs(0);
  EXPECT_GT(most_us, 2 * each_us);
  EXPECT_LT(most_us, 7 * each_us);
}

TEST(ProductTime, OtherCallsAndOtherDevicesHaveNoLimits) {
  NetBuilder net;
  const graph::Graph relu = std::move(net).Finish({net.Relu(net.Input({64, 4096}))}).value();
  EXPECT_EQ(ProductTime(Gpu(), relu).LeastUs(0), 0);
  EXPECT_TRUE(std::isinf(ProductTime(Gpu(), relu).MostUs(0)));
  TargetSpec cpu = Gpu(), ncnn = Gpu(), unknown = Gpu();
  cpu.kind = "cpu";
  ncnn.runtime = "ncnn";
  unknown.peak_gflops = 0;
  const graph::Graph linear = Perceptron(1, 8192, 20);
  for (const TargetSpec& spec : {cpu, ncnn, unknown}) {
    EXPECT_EQ(ProductTime(spec, linear).LeastUs(0), 0);
    EXPECT_TRUE(std::isinf(ProductTime(spec, linear).MostUs(0)));
  }
}

TEST(ProductTime, MeasuredProductsAreWithin) {
  size_t products = 0, above = 0;
  for (const std::string gpu :
       {"public/neusight/gpu-v100-pcie-32gb-torch-2.1", "public/neusight/gpu-a100-pcie-40gb-torch-2.1",
        "public/neusight/gpu-l4-torch-2.1", "public/neusight/gpu-amd-mi210-torch-2.1", "measurements/gpu-nvidia-h200",
        "measurements/gpu-nvidia-h200-float16", "measurements/gpu-nvidia-h200-bfloat16",
        "measurements/gpu-nvidia-h200-tf32"}) {
    const auto data = training::LoadMeasurements(COBRA_SOURCE_DIR "/data/" + gpu);
    ASSERT_TRUE(data.ok()) << data.status();
    for (const training::Sample& row : data->samples) {
      if (row.graph().nodes().size() != 1) continue;
      const ProductTime time(data->target, row.graph());
      ASSERT_LE(time.LeastUs(0), row.latency_us()) << gpu << " " << row.label();
      const double most_us = time.MostUs(0);
      products += !std::isinf(most_us);
      above += row.latency_us() > most_us;
      ASSERT_LE(row.latency_us(), 1.8 * most_us) << gpu << " " << row.label();
    }
  }
  EXPECT_GT(products, 15000U);
  EXPECT_LT(static_cast<double>(above), 0.004 * static_cast<double>(products));
}

}  // namespace
}  // namespace cobra::predict
