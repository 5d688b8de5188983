#include "model/predict/work/composite_work.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "graph/builder/builder.h"
#include "model/predict/work/features.h"

namespace cobra::predict {
namespace {

using graph::Op;

// A call of one operator on inputs of these shapes.
graph::Graph GraphOf(Op op, const graph::Attributes& attributes, const std::vector<graph::Shape>& shapes) {
  graph::GraphBuilder b;
  graph::ValueRefs inputs;
  for (const graph::Shape& shape : shapes) inputs.push_back(b.AddInput("x", {shape, graph::DType::float32}));
  const auto call = b.Add(op, attributes, inputs);
  EXPECT_TRUE(call.ok()) << call.status();
  return std::move(b).Build({graph::ValueRef::Node(*call)});
}

double Amount(const graph::Graph& graph, WorkTerm term) { return std::exp(LogWork(graph, 0)[term]); }

TEST(CompositeWork, ACallOfOneKernelHasNone) {
  for (const Op op : {Op::relu, Op::sigmoid, Op::softmax}) {
    const graph::Graph g =
        GraphOf(op, op == Op::softmax ? graph::Attributes{{"dim", int64_t{1}}} : graph::Attributes{}, {{8, 16}});
    EXPECT_FALSE(CompositeWorkOf(g, g.nodes()[0]).has_value());
    EXPECT_LT(Amount(g, kComposedKernels), 1e-6);
    EXPECT_LT(Amount(g, kComposedBytes), 1e-6);
  }
}

TEST(CompositeWork, ALossIsSeveralKernels) {
  const graph::Graph g = GraphOf(Op::kl_div, {}, {{32, 64}, {32, 64}});
  const std::optional<CompositeWork> work = CompositeWorkOf(g, g.nodes()[0]);
  ASSERT_TRUE(work.has_value());
  EXPECT_EQ(work->kernels, 5);
  EXPECT_EQ(work->moved_bytes, 7 * 32 * 64 * 4);
  EXPECT_NEAR(Amount(g, kComposedKernels), 4, 1e-3);
  // The loss is one number; what is computed on the way is not.
  EXPECT_GE(Amount(g, kOperations), 5 * 32 * 64);
}

// The scores of an attention over many tokens are far larger than its inputs.
TEST(CompositeWork, AttentionMovesItsScores) {
  constexpr int64_t kTokens = 4096, kBatch = 2, kWidth = 64, kHeads = 4;
  graph::GraphBuilder b;
  const auto input = b.AddInput("x", {{kTokens, kBatch, kWidth}, graph::DType::float32});
  const auto weight = [&b](graph::Shape shape) {
    return b.AddParameter("w", {std::move(shape), graph::DType::float32});
  };
  const auto call =
      b.Add(Op::multi_head_attention_forward, {{"embed_dim_to_check", kWidth}, {"num_heads", kHeads}},
            {input, input, input, weight({3 * kWidth, kWidth}), weight({3 * kWidth}), graph::ValueRef::None(),
             graph::ValueRef::None(), weight({kWidth, kWidth}), weight({kWidth})});
  ASSERT_TRUE(call.ok()) << call.status();
  const graph::Graph g = std::move(b).Build({graph::ValueRef::Node(*call)});
  const std::optional<CompositeWork> work = CompositeWorkOf(g, g.nodes()[0]);
  ASSERT_TRUE(work.has_value());
  EXPECT_EQ(work->moved_bytes, 5 * kBatch * kHeads * kTokens * kTokens * 4);
  EXPECT_GT(Amount(g, kComposedBytes), 100 * Amount(g, kReadBytes));
}

// Of four dimensions it is one kernel; of five its scores go to memory.
TEST(CompositeWork, AttentionOfFiveDimensionsHasNoKernelOfItsOwn) {
  const graph::Shape four = {2, 3, 64, 32}, five = {2, 3, 4, 64, 32};
  const graph::Graph fused = GraphOf(Op::scaled_dot_product_attention, {}, {four, four, four});
  EXPECT_FALSE(CompositeWorkOf(fused, fused.nodes()[0]).has_value());
  const graph::Graph plain = GraphOf(Op::scaled_dot_product_attention, {}, {five, five, five});
  const std::optional<CompositeWork> work = CompositeWorkOf(plain, plain.nodes()[0]);
  ASSERT_TRUE(work.has_value());
  EXPECT_EQ(work->moved_bytes, 5 * 2 * 3 * 4 * 64 * 64 * 4);
  EXPECT_GT(work->kernels, 1);
}

}  // namespace
}  // namespace cobra::predict
