#include <numeric>

#include <gtest/gtest.h>

#include "graph/builder.h"
#include "graph/cost.h"

namespace cobra {
namespace {

// A chain of relus, each with its own output.
Graph ChainOf(int calls, int64_t floats) {
  GraphBuilder b;
  ValueRef x = b.AddInput("x", {{floats}, DType::float32});
  for (int i = 0; i < calls; ++i) x = ValueRef::Node(b.Add(Op::relu, {}, {x}).value());
  return std::move(b).Build({x});
}

int64_t Total(const std::vector<int64_t>& bytes) { return std::accumulate(bytes.begin(), bytes.end(), int64_t{0}); }

TEST(FreshHeapBytes, SmallTensorsStayInTheHeap) { EXPECT_EQ(Total(FreshHeapBytes(ChainOf(10, 1000))), 0); }

TEST(FreshHeapBytes, AboveTheLargestThresholdEveryCallFaultsItsOutputIn) {
  const int64_t floats = (40 << 20) / 4;
  const auto fresh = FreshHeapBytes(ChainOf(4, floats));
  for (int64_t bytes : fresh) EXPECT_GE(bytes, floats * 4);
}

TEST(FreshHeapBytes, TwoTensorsOfOneSizeFitBelowTheTrimThreshold) {
  // Never more than two alive: the end of the heap never has more than two sizes free.
  const auto fresh = FreshHeapBytes(ChainOf(10, 1 << 18));
  EXPECT_LE(Total(fresh), 3 * (int64_t{1} << 20));
}

TEST(FreshHeapBytes, ManyFreedTogetherGoBackToTheSystem) {
  GraphBuilder b;
  const ValueRef x = b.AddInput("x", {{1, 1 << 18}, DType::float32});
  std::vector<ValueRef> parts;
  for (int i = 0; i < 6; ++i) parts.push_back(ValueRef::Node(b.Add(Op::sigmoid, {}, {x}).value()));
  const int32_t sum = b.Add(Op::stack, {{"dim", int64_t{0}}}, parts).value();
  const int32_t mean = b.Add(Op::mean, {{"dim", std::vector<int64_t>{0, 1, 2}}, {"keepdim", false}}, {ValueRef::Node(sum)}).value();
  const Graph g = std::move(b).Build({ValueRef::Node(mean)});
  EXPECT_GT(Total(FreshHeapBytes(g)), int64_t{4} << 20);
}

TEST(MemoryPlan, EveryStorageIsMadeOnceAndDiesOnce) {
  const Graph g = ChainOf(5, 100);
  const MemoryPlan plan = PlanMemory(g);
  std::vector<int> made(plan.storage_bytes.size()), died(plan.storage_bytes.size());
  for (const auto& at : plan.made_at) {
    for (int32_t s : at) ++made[s];
  }
  for (const auto& at : plan.dies_after) {
    for (int32_t s : at) ++died[s];
  }
  for (size_t s = 0; s < made.size(); ++s) {
    EXPECT_EQ(made[s], 1);
    EXPECT_EQ(died[s], 1);
  }
  EXPECT_EQ(plan.resident_bytes, 400);
}

}  // namespace
}  // namespace cobra
