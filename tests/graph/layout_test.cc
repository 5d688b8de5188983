#include "graph/shape/layout.h"

#include "graph_testing.h"

namespace cobra::graph {
namespace {

TEST(LayoutTest, ViewStridesMergesAndSplitsRunsInMemory) {
  const Shape shape{2, 3, 4};
  const Strides contiguous = ContiguousStrides(shape);
  EXPECT_EQ(*ViewStrides(shape, contiguous, {6, 4}), (Strides{4, 1}));
  EXPECT_EQ(*ViewStrides(shape, contiguous, {2, 3, 2, 2}), (Strides{12, 4, 2, 1}));
  const Shape turned{2, 4, 3};
  const Strides strides{12, 1, 4};
  EXPECT_FALSE(ViewStrides(turned, strides, {2, 12}).has_value());
  EXPECT_TRUE(ViewStrides(turned, strides, {2, 2, 2, 3}).has_value());
}

TEST(LayoutTest, ElementwiseCallsKeepAPermutationAndAReshapeThenCopies) {
  TestNet net;
  const ValueRef x = net.Input("1x8x4x4");
  const ValueRef last = net.Call(Op::permute, {{"dims", std::vector<int64_t>{0, 2, 3, 1}}}, {x});
  const ValueRef relu = net.Call(Op::relu, {}, {last});
  net.Call(Op::reshape, {{"shape", std::vector<int64_t>{1, 16, 8}}}, {relu});
  net.Call(Op::flatten, {{"start_dim", int64_t{1}}}, {relu});
  const ValueRef copy = net.Call(Op::contiguous, {}, {relu});
  net.Call(Op::view, {{"size", std::vector<int64_t>{1, 128}}}, {copy});
  const Layout layout = ComputeLayout(net.Build({}));
  EXPECT_EQ(layout.copies, (std::vector<bool>{false, false, false, true, true, false}));
}

TEST(LayoutTest, SqueezeOfNoDimensionsKeepsAllStrides) {
  TestNet net;
  net.Call(Op::squeeze, {{"dim", std::vector<int64_t>{}}}, {net.Input("3x1x2")});
  net.Call(Op::squeeze, {}, {net.Input("3x1x2")});
  const Graph graph = net.Build({});
  const Layout layout = ComputeLayout(graph);
  EXPECT_EQ(layout.Of(graph, ValueRef::Node(0)), (Strides{2, 2, 1}));
  EXPECT_EQ(layout.Of(graph, ValueRef::Node(1)), (Strides{2, 1}));
}

TEST(LayoutTest, ElementwiseOutputsFollowTheFirstOperandThatTells) {
  const StridedShape contiguous{{2, 3, 4}, {12, 4, 1}}, turned{{2, 3, 4}, {12, 1, 3}}, row{{4}, {1}};
  const StridedShape channel{{1, 3, 1}, {3, 1, 1}}, number{{}, {}};
  const Shape out{2, 3, 4};
  EXPECT_EQ(ElementwiseStrides(out, {contiguous, turned}), contiguous.strides);
  EXPECT_EQ(ElementwiseStrides(out, {turned, contiguous}), turned.strides);
  EXPECT_EQ(ElementwiseStrides(out, {row, turned}), turned.strides);
  EXPECT_EQ(ElementwiseStrides(out, {channel, turned, number}), turned.strides);
  EXPECT_EQ(ElementwiseStrides(out, {number, contiguous}), contiguous.strides);
  EXPECT_EQ(ElementwiseStrides(out, {{{2, 3, 4}, {24, 1, 6}}}), turned.strides);  // gaps are closed
}

TEST(LayoutTest, ACallInPlaceOnAViewLeavesTheOrderOfItsBase) {
  TestNet net;
  const ValueRef y = net.Call(Op::mul, {{"other", 2.0}}, {net.Input("4x8"), ValueRef::None()});
  const ValueRef view = net.Call(Op::t, {}, {y});
  const ValueRef one = net.Call(Op::relu, {}, {view});
  net.Call(Op::as_base, {}, {one, y});
  net.Call(Op::movedim, {{"source", std::vector<int64_t>{0}}, {"destination", std::vector<int64_t>{0}}},
           {net.Input("scalar")});
  const Graph graph = net.Build({});
  const Layout layout = ComputeLayout(graph);
  EXPECT_EQ(layout.Of(graph, ValueRef::Node(2)), (Strides{1, 8}));
  EXPECT_EQ(layout.Of(graph, ValueRef::Node(3)), (Strides{8, 1}));
  EXPECT_EQ(layout.Of(graph, ValueRef::Node(4)), Strides{});
}

// F.pad(x[:, 0], (1, 1)), torch.roll(x[:, 0], 1): few dimensions, with gaps between the elements.
TEST(LayoutTest, WhatHasNoChannelsIsNotChannelsLast) {
  TestNet net;
  const ValueRef line = net.Call(Op::diagonal, {}, {net.Input("4x4")});
  const ValueRef padded =
      net.Call(Op::pad, {{"pad", std::vector<int64_t>{1, 1}}, {"mode", "constant"}, {"value", 0.0}}, {line});
  const ValueRef rolled = net.Call(Op::roll, {{"shifts", std::vector<int64_t>{1}}}, {line});
  const ValueRef one = net.Call(Op::atleast_1d, {}, {net.Call(Op::relu, {}, {net.Input("scalar")})});
  net.Call(Op::pad, {{"pad", std::vector<int64_t>{1, 1}}, {"mode", "constant"}, {"value", 0.0}}, {one});
  const Graph graph = net.Build({});
  const Layout layout = ComputeLayout(graph);
  EXPECT_EQ(layout.Of(graph, line), Strides{5});
  EXPECT_EQ(layout.Of(graph, padded), Strides{1});
  EXPECT_EQ(layout.Of(graph, rolled), Strides{1});
}

// Results that are alike are looked at once.
TEST(LayoutTest, EachResultOfASplitHasItsOwnSize) {
  TestNet net;
  const ValueRef columns = net.Call(Op::t, {}, {net.Input("6x8")});
  const ValueRef pieces =
      net.Call(Op::split, {{"split_size", std::vector<int64_t>{2, 2, 4}}, {"dim", int64_t{0}}}, {columns});
  net.Call(Op::unbind, {{"dim", int64_t{0}}}, {columns});
  const Graph graph = net.Build({});
  const Layout layout = ComputeLayout(graph);
  for (const int32_t piece : {0, 1, 2})
    EXPECT_EQ(layout.Of(graph, ValueRef::Node(pieces.index, piece)), (Strides{1, 8}));
  for (const int32_t row : {0, 1, 7}) EXPECT_EQ(layout.Of(graph, ValueRef::Node(pieces.index + 1, row)), Strides{8});
}

// Each result is of one argument: all of them for each would be 400 million.
TEST(LayoutTest, AsManyResultsAsArguments) {
  TestNet net;
  const ValueRef row = net.Call(Op::t, {}, {net.Input("3x4")});
  net.Call(Op::broadcast_tensors, {}, ValueRefs(20'000, row));
  const Graph graph = net.Build({});
  EXPECT_EQ(ComputeLayout(graph).Of(graph, ValueRef::Node(1, 19'999)), (Strides{1, 4}));
}

// model.to(memory_format=torch.channels_last): arguments and weights, and what convolutions make of
// rows.
TEST(LayoutTest, ImagesOfANetworkThatIsChannelsLast) {
  TestNet net;
  const ValueRef x = net.Input("1x8x4x4");
  const ValueRef relu = net.Call(Op::relu, {}, {x});
  const ValueRef rows = net.Call(Op::contiguous, {}, {relu});
  net.Conv("w", rows, "6x8x1x1");
  const Graph graph = net.Build({});
  const Layout layout = ComputeLayout(graph, /*channels_last=*/true);
  EXPECT_EQ(layout.Of(graph, x), (Strides{128, 1, 32, 8}));
  EXPECT_EQ(layout.Of(graph, relu), (Strides{128, 1, 32, 8}));
  EXPECT_EQ(layout.Of(graph, rows), (Strides{128, 16, 4, 1}));
  EXPECT_TRUE(layout.copies[static_cast<size_t>(rows.index)]);
  EXPECT_EQ(layout.Of(graph, ValueRef::Node(2)), (Strides{96, 1, 24, 6}));
  EXPECT_EQ(ComputeLayout(graph).Of(graph, ValueRef::Node(2)), (Strides{96, 16, 4, 1}));
}

}  // namespace
}  // namespace cobra::graph
