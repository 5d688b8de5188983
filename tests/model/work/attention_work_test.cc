#include "model/predict/work/attention_work.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "graph/builder/builder.h"

namespace cobra::predict {
namespace {

using graph::Op;
using graph::Shape;
using graph::ValueRef;

struct Attention {
  graph::Graph graph;
  graph::Layout layout;
  const graph::Node& call() const { return graph.nodes().back(); }
  bool IsPlain(bool fuses = false) const { return IsPlainAttention(graph, layout, call(), fuses); }
  AttentionWork Work(bool in_float32, bool fuses = false) const {
    return PlainAttentionWork(graph, static_cast<int32_t>(graph.nodes().size()) - 1, in_float32, fuses);
  }
};

// `turned`: queries come from a tensor whose last two dimensions are the other way round.
Attention AttentionOf(const Shape& query, const Shape& key, bool turned = false) {
  graph::GraphBuilder b;
  Shape stored = query;
  if (turned) std::swap(stored[stored.size() - 1], stored[stored.size() - 2]);
  ValueRef q = b.AddInput("q", {stored, graph::DType::float32});
  if (turned) q = ValueRef::Node(*b.Add(Op::transpose, {{"dim0", int64_t{-1}}, {"dim1", int64_t{-2}}}, {q}));
  const ValueRef k = b.AddInput("k", {key, graph::DType::float32}), v = b.AddInput("v", {key, graph::DType::float32});
  const auto call = b.Add(Op::scaled_dot_product_attention, {}, {q, k, v});
  EXPECT_TRUE(call.ok()) << call.status();
  Attention attention{std::move(b).Build({ValueRef::Node(*call)}), {}};
  attention.layout = graph::ComputeLayout(attention.graph);
  return attention;
}

TEST(AttentionWork, FourDimensionsHaveAKernel) { EXPECT_FALSE(AttentionOf({2, 3, 5, 8}, {2, 3, 7, 8}).IsPlain()); }

TEST(AttentionWork, FiveDimensionsHaveNone) { EXPECT_TRUE(AttentionOf({2, 4, 3, 5, 8}, {2, 4, 3, 7, 8}).IsPlain()); }

TEST(AttentionWork, KeysOfOneHeadForAllHaveNone) { EXPECT_TRUE(AttentionOf({2, 3, 5, 8}, {2, 1, 7, 8}).IsPlain()); }

TEST(AttentionWork, WhatIsNotInOrderHasNoneUnlessACompilerPutsItInOrder) {
  const Attention attention = AttentionOf({2, 3, 5, 8}, {2, 3, 7, 8}, /*turned=*/true);
  EXPECT_TRUE(attention.IsPlain());
  EXPECT_FALSE(attention.IsPlain(/*fuses=*/true));
}

constexpr int64_t kScores = 4 * 2 * 4 * 3 * 5 * 7, kQuery = 4 * 2 * 4 * 3 * 5 * 8, kKey = 4 * 2 * 4 * 3 * 7 * 8;

TEST(AttentionWork, ScalesQueriesAndKeysAndTakesASoftmax) {
  const AttentionWork work = AttentionOf({2, 4, 3, 5, 8}, {2, 4, 3, 7, 8}).Work(/*in_float32=*/false);
  EXPECT_EQ(work.kernels, 3);
  EXPECT_EQ(work.moved_bytes, 4 * kScores + 2 * (kQuery + kKey));
  EXPECT_EQ(work.operations, 0);
}

TEST(AttentionWork, InFloat32ItCastsAndMovesTwice) {
  const AttentionWork work = AttentionOf({2, 4, 3, 5, 8}, {2, 4, 3, 7, 8}).Work(/*in_float32=*/true);
  EXPECT_EQ(work.kernels, 7);
  EXPECT_EQ(work.moved_bytes, 8 * kScores + 4 * (kQuery + kKey) + 3 * (kKey + kQuery + kQuery + kKey));
  EXPECT_EQ(work.operations, 2 * 2 * kScores / 4 * 8);
}

TEST(AttentionWork, ACompilerCastsWhereItScales) {
  const AttentionWork work = AttentionOf({2, 4, 3, 5, 8}, {2, 4, 3, 7, 8}).Work(/*in_float32=*/true, /*fuses=*/true);
  EXPECT_EQ(work.kernels, 5);
  EXPECT_EQ(work.moved_bytes, 8 * kScores + 3 * (kQuery + kKey) + 3 * (kKey + kQuery));
}

TEST(AttentionWork, KeysOfOneHeadAreCopiedForEach) {
  constexpr int64_t kOfHeads = 4 * 2 * 3 * 7 * 8, kOfOne = 4 * 2 * 7 * 8;
  const AttentionWork shared = AttentionOf({2, 3, 5, 8}, {2, 1, 7, 8}).Work(false),
                      own = AttentionOf({2, 3, 5, 8}, {2, 3, 7, 8}).Work(false);
  EXPECT_EQ(shared.kernels, own.kernels + 2);
  EXPECT_EQ(shared.moved_bytes, own.moved_bytes + 2 * (kOfHeads + kOfOne) - 2 * (kOfHeads - kOfOne));
}

}  // namespace
}  // namespace cobra::predict
