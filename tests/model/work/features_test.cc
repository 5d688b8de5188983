#include "model/predict/work/features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "graph/builder/builder.h"

namespace cobra::predict {
namespace {

// A convolution of 17 to 33 channels: work in whole blocks of 16 (which ONNX Runtime does not
// take), tiles of
// 8x8, nothing that is not a multiply-accumulate, 4 bytes a number.
TEST(LogWork, OfAConvolution) {
  graph::GraphBuilder b;
  const graph::ValueRef x = b.AddInput("x", {{1, 17, 40, 40}, graph::DType::float32}),
                        w = b.AddParameter("w", {{33, 17, 3, 3}, graph::DType::float32});
  const std::vector<int64_t> ones = {1, 1}, zeros = {0, 0};
  const auto conv =
      b.Add(graph::Op::conv2d, {{"stride", ones}, {"padding", zeros}, {"dilation", ones}, {"groups", int64_t{1}}},
            {x, w, graph::ValueRef::None()});
  ASSERT_TRUE(conv.ok()) << conv.status();
  const graph::Graph g = std::move(b).Build({graph::ValueRef::Node(*conv)});
  const auto work = LogWork(g, 0);
  const double places = 38 * 38, in_tiles = 7 * 7 * 8 * 8;
  const std::map<int, double> amounts = {{kOneCall, 1},
                                         {kUnpaddedMacs, 17 * 33 * 9 * places},
                                         {kBlockedMacs, 32 * 48 * 9 * places},
                                         {kStalledMacs, 32 * 48 * 9 * places},
                                         {kShuffledBytes, 4 * (32 * 40 * 40 + 48 * places)},
                                         {kWeightCopyBytes, 4 * 32 * 48 * 9},
                                         {kWinogradMacs, 17 * 33 * in_tiles},
                                         {kWinogradBytes, 4 * (17 + 33) * in_tiles},
                                         {kPlainMacs, 17 * 33 * 9 * places},
                                         {kPlainColumnBytes, 4 * 17 * 9 * places},
                                         {kPlainProducts, 1},
                                         {kReadBytes, 17 * 40 * 40 * 4},
                                         {kWeightBytes, 33 * 17 * 9 * 4},
                                         {kWrittenBytes, 33 * places * 4}};
  for (int i = 0; i < kWorkTerms; ++i) {
    const auto amount = amounts.find(i);
    EXPECT_NEAR(work[static_cast<size_t>(i)], amount == amounts.end() ? kNoWork : std::log(amount->second), 1e-4) << i;
  }
}

TEST(LogWork, OfACallWithoutMultiplyAccumulates) {
  graph::GraphBuilder b;
  const auto relu = b.Add(graph::Op::relu, {}, {b.AddInput("x", {{1, 64, 400, 400}, graph::DType::float32})});
  ASSERT_TRUE(relu.ok()) << relu.status();
  const auto work = LogWork(std::move(b).Build({graph::ValueRef::Node(*relu)}), 0);
  const double numbers = 64 * 400 * 400;
  EXPECT_NEAR(work[kOperations], std::log(numbers), 1e-4);
  EXPECT_EQ(work[kProductMacs], kNoWork);
  EXPECT_NEAR(work[kWrittenBytes], std::log(4 * numbers), 1e-4);
  EXPECT_NEAR(work[kMappedBytes], std::log(4 * numbers), 1e-4);  // 39 MB: malloc maps it anew
}

TEST(LogWork, OfAView) {
  graph::GraphBuilder b;
  const auto permuted = b.Add(graph::Op::permute, {{"dims", std::vector<int64_t>{0, 2, 1}}},
                              {b.AddInput("x", {{2, 30, 50}, graph::DType::float32})});
  ASSERT_TRUE(permuted.ok()) << permuted.status();
  const auto work = LogWork(std::move(b).Build({graph::ValueRef::Node(*permuted)}), 0);
  EXPECT_NEAR(work[kViewBytes], std::log(4 * 2 * 30 * 50), 1e-4);
  EXPECT_EQ(work[kReadBytes], kNoWork);
  EXPECT_EQ(work[kWrittenBytes], kNoWork);
}

// Two heads of three sequences by one matrix for all sequences.
TEST(LogWork, OfABatchOfProducts) {
  graph::GraphBuilder b;
  const graph::ValueRef x = b.AddInput("x", {{3, 2, 10, 8}, graph::DType::float32}),
                        y = b.AddInput("y", {{1, 2, 8, 10}, graph::DType::float32});
  const auto product = b.Add(graph::Op::matmul, {}, {x, y});
  ASSERT_TRUE(product.ok()) << product.status();
  const auto work = LogWork(std::move(b).Build({graph::ValueRef::Node(*product)}), 0);
  EXPECT_NEAR(work[kProducts], std::log(6), 1e-5);
  EXPECT_NEAR(work[kProductMacs], std::log(6 * 10 * 8 * 10), 1e-5);
  EXPECT_NEAR(work[kCopiedBytes], std::log(4 * 6 * 80), 1e-5);  // the second, written out
}

TEST(TargetSpecFeatures, OfAGpuSayWhetherItIsAmds) {
  TargetSpec gpu;
  gpu.kind = "gpu";
  gpu.device = "NVIDIA A100-SXM4-40GB";
  const auto nvidia = TargetSpecFeatures(gpu);
  gpu.device = "AMD Instinct MI210";
  const auto amd = TargetSpecFeatures(gpu);
  constexpr size_t kIsAmd = 34;
  EXPECT_EQ(nvidia[kIsAmd], 0);
  EXPECT_EQ(amd[kIsAmd], 1);
  TargetSpec processor;
  processor.kind = "cpu";
  processor.device = "AMD EPYC 9B14";
  EXPECT_EQ(TargetSpecFeatures(processor)[kIsAmd], 0);
}

// V100 and T4 are of one process: a T4 has the power for half of its peak, a V100 for all of it.
TEST(TargetSpecFeatures, SayForHowMuchOfItsPeakAGpuHasThePower) {
  const auto limit = [](const char* device, double peak_gflops, double board_power_w, const char* precision) {
    TargetSpec spec;
    spec.kind = "gpu";
    spec.device = device;
    spec.peak_gflops = peak_gflops;
    spec.board_power_w = board_power_w;
    spec.precision = precision;
    return TargetSpecFeatures(spec)[kGpuPowerLimit];
  };
  EXPECT_EQ(limit("Tesla V100-PCIE-32GB", 14029, 250, "float32"), 0);
  EXPECT_NEAR(limit("tesla t4", 8141, 70, "float32"), -1, 0.1);
  EXPECT_NEAR(limit("NVIDIA L4", 31334, 72, "tf32-convolutions"), -1.66, 0.1);
  EXPECT_GT(limit("NVIDIA L4", 121000, 72, "float16"), -0.7);  // matrix units
  EXPECT_EQ(limit("Tesla T4", 8141, 0, "float32"), 0);         // no sheet states it
  EXPECT_EQ(limit("Voodoo", 8141, 70, "float32"), 0);
}
TEST(TargetSpecFeatures, ASheetMaySayOfWhatProcessItsGpuIs) {
  TargetSpec spec;
  spec.kind = "gpu";
  spec.device = "Voodoo";
  spec.peak_gflops = 8141;
  spec.board_power_w = 70;
  spec.process_nm = 12;
  EXPECT_NEAR(LogPowerLimit(spec), -1, 0.1);
  spec.device = "Tesla T4";
  spec.process_nm = 5;
  EXPECT_EQ(LogPowerLimit(spec), 0);
}

// Several calls read what one makes; one call reads it twice.
TEST(GraphEdges, AreInOrderAndEachOnce) {
  graph::GraphBuilder b;
  const graph::ValueRef x = b.AddInput("x", {{4, 4}, graph::DType::float32});
  for (int i = 0; i < 9; ++i) b.AddParameter("", {{4, 4}, graph::DType::float32});
  const auto add = [&b](graph::ValueRef p, graph::ValueRef q) {
    return graph::ValueRef::Node(b.Add(graph::Op::add, {}, {p, q}).value());
  };
  const graph::ValueRef first = add(x, graph::ValueRef::Parameter(8)), twice = add(first, first);
  const graph::ValueRef apart = add(x, x), last = add(apart, add(twice, first));
  const graph::Graph g = std::move(b).Build({last});
  EXPECT_EQ(GraphEdges(g), (std::vector<std::pair<int32_t, int32_t>>{{0, 1}, {0, 3}, {1, 3}, {2, 4}, {3, 4}}));
}

}  // namespace
}  // namespace cobra::predict
