#include "graph/cost/convolution_algorithm.h"

#include "graph_testing.h"

namespace cobra::graph {
namespace {

using Ints = std::vector<int64_t>;

struct Example {
  const char* input;
  const char* weight;
  int64_t groups = 1;
  Ints stride = {1, 1}, padding = {0, 0}, dilation = {1, 1};
};

std::optional<Convolution> Of(Op op, const Example& e) {
  TestNet net;
  const Attributes attributes = {
      {"stride", e.stride}, {"padding", e.padding}, {"dilation", e.dilation}, {"groups", e.groups}};
  const ValueRef y = net.Call(op, attributes, {net.Input(e.input), net.Parameter("w", e.weight)});
  const Graph graph = net.Build({y});
  return ConvolutionOf(graph, graph.nodes()[0]);
}

ConvolutionAlgorithm AlgorithmFor(const Example& e) { return AlgorithmOf(*Of(Op::conv2d, e)); }

TEST(ConvolutionTest, HasTheSidesOfItsDimensions) {
  const Convolution image = *Of(Op::conv2d, {"2x6x20x30", "8x3x3x5", 2, {1, 2}, {1, 2}, {1, 1}});
  EXPECT_EQ(image.batch, 2);
  EXPECT_EQ(image.in_channels, 3);
  EXPECT_EQ(image.out_channels, 4);
  EXPECT_EQ(image.depth.input, 1);
  EXPECT_EQ(image.height.window, 3);
  EXPECT_EQ(image.width.window, 5);
  EXPECT_EQ(image.width.stride, 2);
  EXPECT_EQ(image.width.output, 15);
  EXPECT_EQ(image.macs(), int64_t{2} * 20 * 15 * 8 * 3 * 15);
  const Convolution line = *Of(Op::conv1d, {"6x30", "8x6x5", 1, {2}, {2}, {1}});
  EXPECT_FALSE(line.batched);
  EXPECT_EQ(line.height.input, 1);
  EXPECT_EQ(line.width.stride, 2);
  const Convolution volume = *Of(Op::conv3d, {"1x6x4x5x6", "8x6x1x2x3", 1, {1}, {0}, {1}});
  EXPECT_EQ(volume.depth.window, 1);
  EXPECT_EQ(volume.height.window, 2);
  EXPECT_EQ(volume.width.window, 3);
}

TEST(ConvolutionTest, OtherCallsHaveNone) {
  TestNet net;
  const ValueRef x = net.Input("1x8x20x20");
  net.Call(Op::relu, {}, {x});
  const ValueRef y = net.Call(Op::conv_transpose2d, {}, {x, net.Parameter("w", "8x4x3x3")});
  const Graph graph = net.Build({y});
  EXPECT_FALSE(ConvolutionOf(graph, graph.nodes()[0]).has_value());
  EXPECT_FALSE(ConvolutionOf(graph, graph.nodes()[1]).has_value());
}

TEST(ConvolutionTest, LibTorchMultipliesMatricesWhereLittleIsToGain) {
  EXPECT_EQ(AlgorithmFor({"1x64x56x56", "64x64x1x1"}), ConvolutionAlgorithm::kProduct);
  EXPECT_EQ(AlgorithmFor({"16x64x56x56", "64x64x1x1"}), ConvolutionAlgorithm::kPointwise);
  EXPECT_EQ(AlgorithmFor({"1x64x56x56", "64x64x1x1", 1, {2, 2}}), ConvolutionAlgorithm::kPointwise);
  EXPECT_EQ(AlgorithmFor({"1x20x32x32", "32x20x3x3"}), ConvolutionAlgorithm::kProduct);  // 20480 elements
  EXPECT_EQ(AlgorithmFor({"1x21x32x32", "32x21x3x3"}), ConvolutionAlgorithm::kBlocked);
  EXPECT_EQ(AlgorithmFor({"1x16x32x32", "32x16x4x4"}), ConvolutionAlgorithm::kBlocked);  // a large window
}

TEST(ConvolutionTest, GroupsNeedChannelsThatFillBlocks) {
  EXPECT_EQ(AlgorithmFor({"1x64x40x40", "64x1x3x3", 64}), ConvolutionAlgorithm::kDepthwise);
  EXPECT_EQ(AlgorithmFor({"1x64x40x40", "64x8x3x3", 8}), ConvolutionAlgorithm::kBlocked);
  EXPECT_EQ(AlgorithmFor({"1x60x40x40", "60x6x3x3", 10}), ConvolutionAlgorithm::kGemm);
  EXPECT_EQ(ChannelBlock(*Of(Op::conv2d, {"1x64x40x40", "64x8x3x3", 8})), 8);
  EXPECT_EQ(ChannelBlock(*Of(Op::conv2d, {"1x60x40x40", "60x6x3x3", 10})), 0);
}

TEST(ConvolutionTest, WindowsThatMissTheInputGoToTheProduct) {
  EXPECT_EQ(AlgorithmFor({"1x64x40x40", "64x64x3x2", 1, {1, 1}, {1, 2}}), ConvolutionAlgorithm::kGemm);
}

// Conv3d asks for the smaller of its last two windows, as two dimensions do.
TEST(ConvolutionTest, LibTorchsChoiceCoversThreeDimensions) {
  EXPECT_FALSE(RunsInOneDnn(*Of(Op::conv3d, {"1x4x8x8x8", "8x4x5x3x5", 1, {1}, {0}, {1}})));
  EXPECT_TRUE(RunsInOneDnn(*Of(Op::conv3d, {"1x4x8x8x8", "8x4x1x4x5", 1, {1}, {0}, {1}})));
  EXPECT_TRUE(RunsInOneDnn(*Of(Op::conv3d, {"2x4x8x8x8", "8x4x3x3x3", 1, {1}, {0}, {1}})));
}

}  // namespace
}  // namespace cobra::graph
