#include "model/predict/weights/linear_cost.h"

#include <cmath>

#include "graph/builder/builder.h"
#include "gtest/gtest.h"

namespace cobra::predict {
namespace {

using Ints = std::vector<int64_t>;

CostSample Sample(const char* key, graph::CostClass cost_class, double gflop, double gb, double us) {
  graph::NodeCost cost;
  cost.flops = static_cast<int64_t>(gflop * 1e9);
  cost.output_bytes = static_cast<int64_t>(gb * 1e9);
  return {key, cost_class, cost, us};
}

TEST(LinearCostTest, FindsTheSlopesOfTheLargeHalf) {
  std::vector<CostSample> samples;
  for (int i = 1; i <= 40; ++i) {
    const double gflop = 0.01 * i, gb = 0.001 * (i % 7 + 1);
    // What is small takes the overhead of a call; it must not bend the line.
    const double us = i <= 15 ? 5000 : 1e4 * gflop * 10 + 3e4 * gb;
    samples.push_back(Sample("conv2d", graph::CostClass::kCompute, gflop, gb, us));
  }
  for (int i = 0; i < 15; ++i) samples[static_cast<size_t>(i)].latency_us = 5;
  const LinearCosts lines = FitLinearCosts(samples);
  ASSERT_EQ(lines.count("conv2d"), 1u);
  EXPECT_NEAR(lines.at("conv2d").us_per_gflop, 1e5, 1e2);
  EXPECT_NEAR(lines.at("conv2d").us_per_gb, 3e4, 1e3);
  EXPECT_NEAR(lines.at("compute").us_per_gflop, 1e5, 1e2);
  EXPECT_EQ(lines.count("memory"), 0u);
  graph::NodeCost twice;
  twice.flops = 2 * 400'000'000;
  EXPECT_GT(lines.at("conv2d").Us(twice), lines.at("conv2d").max_us);
}

TEST(LinearCostTest, SlopesAreNeverNegativeAndFewSamplesHaveNoLine) {
  std::vector<CostSample> samples;
  // Time falls with the bytes: what explains it is the work alone.
  for (int i = 1; i <= 30; ++i)
    samples.push_back(Sample("relu", graph::CostClass::kMemory, 0.01 * i, 1.0 / i, 100.0 * i));
  for (int i = 1; i <= 5; ++i) samples.push_back(Sample("glu", graph::CostClass::kMemory, 0.01 * i, 0.1, 100.0 * i));
  const LinearCosts lines = FitLinearCosts(samples);
  EXPECT_GE(lines.at("relu").us_per_gb, 0);
  EXPECT_GT(lines.at("relu").us_per_gflop, 0);
  EXPECT_EQ(lines.count("glu"), 0u);
}

TEST(LinearCostTest, GroupedConvolutionsAndViewsAreApart) {
  graph::GraphBuilder b;
  const graph::ValueRef x = b.AddInput("x", {{1, 8, 16, 16}, graph::DType::float32});
  const graph::ValueRef w = b.AddParameter("w", {{8, 1, 3, 3}, graph::DType::float32});
  const absl::StatusOr<int32_t> conv =
      b.Add(graph::Op::conv2d,
            {{"stride", Ints{1, 1}}, {"padding", Ints{0, 0}}, {"dilation", Ints{1, 1}}, {"groups", int64_t{8}}},
            {x, w, graph::ValueRef::None()});
  ASSERT_TRUE(conv.ok()) << conv.status();
  const absl::StatusOr<int32_t> view =
      b.Add(graph::Op::transpose, {{"dim0", int64_t{0}}, {"dim1", int64_t{1}}}, {graph::ValueRef::Node(*conv)});
  ASSERT_TRUE(view.ok()) << view.status();
  const graph::Graph g = std::move(b).Build({graph::ValueRef::Node(*view)});
  EXPECT_EQ(CostKey(g.nodes()[0]), "conv2d/grouped");
  const LinearCosts lines = {{"compute", {1, 0, 1}}, {"memory", {0, 1, 1}}};
  ASSERT_NE(FindLinearCost(lines, g.nodes()[0]), nullptr);
  EXPECT_EQ(FindLinearCost(lines, g.nodes()[0])->us_per_gflop, 1);
  EXPECT_EQ(FindLinearCost(lines, g.nodes()[1]), nullptr);
  EXPECT_EQ(FindLinearCost({}, g.nodes()[0]), nullptr);
}

}  // namespace
}  // namespace cobra::predict
