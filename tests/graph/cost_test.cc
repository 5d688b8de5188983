#include "graph/cost.h"

#include <limits>

#include "graph/distinct_inputs.h"
#include "graph_testing.h"

namespace cobra::graph {
namespace {

TEST(CostTest, ConvolutionCountsItsMultiplyAccumulates) {
  TestNet net;
  const ValueRef y = net.Conv("w", net.Input("1x16x8x8"), "32x4x3x3", 1, 4);
  const Graph graph = net.Build({y});
  const NodeCost cost = CostOf(graph, 0);
  EXPECT_EQ(cost.macs, 32 * 64 * 4 * 9);
  EXPECT_EQ(cost.flops, 2 * cost.macs);
  EXPECT_EQ(cost.weight_bytes, 4 * 32 * 4 * 9);
  EXPECT_EQ(cost.output_bytes, 4 * 32 * 64);
}

TEST(CostTest, MemoryBeyondAllMeasureIsTheLargestNumber) {
  TestNet net;
  const Graph graph =
      net.Build({net.Conv("w", net.Input("2x311111111111111x224x224"), "16x311111111111111x3x3", 1, 1)});
  EXPECT_EQ(PeakMemoryBytes(graph), std::numeric_limits<int64_t>::max());
}

TEST(CostTest, ViewsAreFreeUnlessTheyCopy) {
  TestNet net;
  const ValueRef x = net.Input("2x3x4");
  const ValueRef flat = net.Call(Op::flatten, {{"start_dim", int64_t{1}}}, {x});
  const ValueRef turned = net.Call(Op::transpose, {{"dim0", int64_t{1}}, {"dim1", int64_t{2}}}, {x});
  const ValueRef copied = net.Call(Op::reshape, {{"shape", std::vector<int64_t>{2, 12}}}, {turned});
  const std::vector<NodeCost> costs = NodeCosts(net.Build({flat, copied}));
  EXPECT_EQ(costs[0].output_bytes, 0);
  EXPECT_EQ(costs[1].output_bytes, 0);
  EXPECT_EQ(costs[2].output_bytes, 4 * 24);
}

TEST(CostTest, EinsumMultipliesAllSizes) {
  TestNet net;
  const ValueRef y =
      net.Call(Op::einsum, {{"equation", std::string("bnd,hd->bhn")}}, {net.Input("2x5x7"), net.Input("3x7")});
  EXPECT_EQ(CostOf(net.Build({y})).macs, 2 * 5 * 7 * 3);
}

TEST(CostTest, FourierTransformsCountFiveNLogN) {
  const auto flops = [](Op op, Attributes attributes, absl::string_view input) {
    TestNet net;
    return CostOf(net.Build({net.Call(op, std::move(attributes), {net.Input(input)})}), 0).flops;
  };
  using Ints = std::vector<int64_t>;
  EXPECT_EQ(flops(Op::fft_fft, {{"dim", int64_t{-1}}}, "3x64:complex64"), 3 * 5 * 64 * 6);
  // A real transform is half of a complex one, from either side.
  EXPECT_EQ(flops(Op::fft_rfft, {{"dim", int64_t{-1}}}, "3x64"), 3 * 5 * 64 * 6 / 2);
  EXPECT_EQ(flops(Op::fft_irfft, {{"dim", int64_t{-1}}}, "3x33:complex64"), 3 * 5 * 64 * 6 / 2);
  EXPECT_EQ(flops(Op::fft_fft2, {{"dim", Ints{-2, -1}}}, "16x16:complex64"), 5 * 256 * 8);
  // 1 + 1024 / 128 frames of 512
  EXPECT_EQ(flops(Op::stft, {{"n_fft", int64_t{512}}, {"hop_length", int64_t{128}}, {"return_complex", true}}, "1024"),
            9 * 5 * 512 * 9 / 2);
}

TEST(CostTest, ProductsThatCountNoMacsCountFlops) {
  TestNet net;
  const ValueRef y = net.Call(Op::tensordot, {{"dims", int64_t{1}}}, {net.Input("5x7"), net.Input("7x3")});
  const NodeCost cost = CostOf(net.Build({y}), 0);
  EXPECT_EQ(cost.macs, 0);
  EXPECT_EQ(cost.flops, 2 * 5 * 7 * 3);
}

TEST(MemoryTest, ChainsReuseWhatIsDead) {
  TestNet net;
  ValueRef x = net.Input("1x1000");
  for (int i = 0; i < 10; ++i) x = net.Call(Op::sigmoid, {}, {x});
  // The input stays, and two activations meet at every call.
  EXPECT_EQ(PeakMemoryBytes(net.Build({x})), 3 * 4000);
}

TEST(MemoryTest, InPlaceCallsAndViewsNeedNothing) {
  TestNet net;
  const ValueRef x = net.Input("1x1000");
  const ValueRef y = net.Call(Op::sigmoid, {}, {x});
  const ValueRef z = net.Call(Op::relu, {}, {y}, /*inplace=*/true);
  const ValueRef v = net.Call(Op::view, {{"size", std::vector<int64_t>{10, 100}}}, {z});
  EXPECT_EQ(PeakMemoryBytes(net.Build({v})), 2 * 4000);
}

TEST(MemoryTest, AResidualKeepsItsBranchAlive) {
  TestNet net;
  const ValueRef x = net.Call(Op::sigmoid, {}, {net.Input("1x1000")});
  const ValueRef a = net.Call(Op::tanh, {}, {x});
  const ValueRef b = net.Call(Op::tanh, {}, {a});
  EXPECT_EQ(PeakMemoryBytes(net.Build({net.Call(Op::add, {}, {b, x})})), 4 * 4000);
}

TEST(DistinctInputsTest, AreTheFirstOfEachTensor) {
  TestNet net;
  const ValueRef x = net.Input("10x10"), w = net.Parameter("w", "10x10"), v = net.Parameter("v", "10x10");
  const ValueRef joined = net.Call(Op::cat, {{"dim", int64_t{0}}}, {x, w, x, v, w});
  const ValueRef product = net.Call(Op::linear, {}, {joined, w, ValueRef::None()});
  const Graph graph = net.Build({product});
  EXPECT_EQ(DistinctInputs(graph.nodes()[0]), (std::vector<size_t>{0, 1, 3}));
  EXPECT_EQ(DistinctInputs(graph.nodes()[1]), (std::vector<size_t>{0, 1}));
}

// The numbers are what LibTorch's allocator reported for these layers.
TEST(MemoryTest, ConvolutionsNeedWhatTheirKernelCopies) {
  const auto peak = [](absl::string_view input, absl::string_view weight, int64_t padding, int64_t groups = 1) {
    TestNet net;
    const ValueRef y = net.Conv("w", net.Input(input), weight, padding, groups);
    const Graph graph = net.Build({y});
    return PeakMemoryBytes(graph) - TestNet::Type(input).num_bytes() - graph.parameters()[0].type.num_bytes();
  };
  EXPECT_EQ(peak("1x64x56x56", "64x64x1x1", 0), 802816);                // a matrix product
  EXPECT_EQ(peak("1x64x56x56", "64x64x3x3", 1), 2 * 802816 + 147456);   // blocked input and weight
  EXPECT_EQ(peak("1x64x56x56", "64x1x3x3", 1, 64), 2 * 802816 + 2304);  // depthwise
  EXPECT_EQ(peak("1x3x224x224", "64x3x7x7", 3), 2 * TestNet::Type("1x64x224x224").num_bytes());
  EXPECT_EQ(peak("1x8x10x10", "8x8x3x3", 1), 3200 + 9 * 3200);  // small: columns of patches
  // Channels in blocks of 16, as measured: 120 as 128, 40 as 48.
  EXPECT_EQ(peak("1x40x32x32", "120x40x5x5", 2), 491520 + (196608 + 614400 + 524288 - 491520));
  EXPECT_EQ(peak("1x120x32x32", "120x1x3x3", 1, 120), 491520 + (524288 + 4608 + 524288 - 491520));
}

}  // namespace
}  // namespace cobra::graph
