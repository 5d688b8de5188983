#include "graph/cost.h"

#include "graph_testing.h"

namespace cobra {
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

TEST(MemoryTest, SpatialConvolutionsNeedAWorkspacePointwiseOnesDoNot) {
  const auto peak = [](absl::string_view weight, int64_t padding) {
    TestNet net;
    const ValueRef y = net.Conv("w", net.Input("1x8x10x10"), weight, padding);
    return PeakMemoryBytes(net.Build({y}));
  };
  EXPECT_EQ(peak("8x8x1x1", 0), 4 * (64 + 800 + 800));
  EXPECT_EQ(peak("8x8x3x3", 1), 4 * (576 + 800 + 800 + 800));
}

}  // namespace
}  // namespace cobra
