#include "lab/published/regressions/roofline.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "graph/builder/net_builder.h"

namespace cobra::lab {
namespace {

// A convolution, its norm and its activation; `twice`: the convolution's result is read once more.
graph::Graph Block(bool twice) {
  graph::NetBuilder b;
  const graph::ValueRef made = b.Conv2d(b.Input({1, 16, 8, 8}), {.out_channels = 16, .kernel_size = 3, .padding = 1});
  graph::ValueRef x = b.Relu(b.BatchNorm2d(made));
  if (twice) x = b.Add(x, made);
  return std::move(b).Finish({x}).value();
}

double Calls(const std::vector<double>& features) {
  double calls = 0;
  for (size_t i = 0; i < features.size(); i += 4) calls += features[i];
  return calls;
}

TEST(Roofline, EachCallCountsUnlessItJoinsAKernel) {
  EXPECT_EQ(Calls(RooflineFeatures(Block(false))), 3);
  EXPECT_EQ(Calls(FusedRooflineFeatures(Block(false))), 1);
  // The norm reads what another call reads, too, so the convolution must write it; the addition
  // joins the activation.
  EXPECT_EQ(Calls(RooflineFeatures(Block(true))), 4);
  EXPECT_EQ(Calls(FusedRooflineFeatures(Block(true))), 2);
}

TEST(Roofline, FusionSavesTrafficAndNoWork) {
  const std::vector<double> plain = RooflineFeatures(Block(false)), fused = FusedRooflineFeatures(Block(false));
  double macs[2] = {}, bytes[2] = {};
  for (size_t i = 0; i < plain.size(); i += 4) {
    macs[0] += plain[i + 1];
    macs[1] += fused[i + 1];
    bytes[0] += plain[i + 2];
    bytes[1] += fused[i + 2];
  }
  EXPECT_EQ(macs[0], macs[1]);
  EXPECT_NEAR(bytes[0], 3 * bytes[1], 1e-9);  // of six passes over equal tensors two are left
}

TEST(Roofline, NonNegativeFitFindsTheWeightsAndNoNegativeOnes) {
  const FeatureRows rows = {{1, 0, 2}, {0, 1, 1}, {3, 1, 0}, {2, 5, 1}, {1, 1, 1}};
  std::vector<double> latency;
  for (const auto& row : rows) latency.push_back(2 * row[0] + 0.5 * row[1] + 4 * row[2]);
  const std::vector<double> exact = FitRelativeNonNegative(rows, latency, rows);
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(exact[i], latency[i], 1e-3 * latency[i]);
  // A weight that least squares would make negative is zero: more of it never lowers a prediction.
  const std::vector<double> falling = {10, 9, 8, 7, 6};
  const FeatureRows line = {{1, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 4}};
  const std::vector<double> flat = FitRelativeNonNegative(line, falling, line);
  EXPECT_NEAR(flat.front(), flat.back(), 1e-9);
}

}  // namespace
}  // namespace cobra::lab
