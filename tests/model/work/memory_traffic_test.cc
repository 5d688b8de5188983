#include "model/predict/work/memory_traffic.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "graph/builder/builder.h"

namespace cobra::predict {
namespace {

using graph::Op;
using graph::ValueRef;
using graph::ValueRefs;

constexpr double kMegabyte = 1 << 20;

class MemoryTrafficTest : public testing::Test {
 protected:
  // A tensor of so many megabytes.
  static graph::TensorType Megabytes(int64_t n) { return {{n, 512, 512}, graph::DType::float32}; }
  ValueRef Add(Op op, const ValueRefs& inputs, const graph::Attributes& attributes = {}) {
    const auto call = b_.Add(op, attributes, inputs);
    EXPECT_TRUE(call.ok()) << call.status();
    return ValueRef::Node(*call);
  }
  ValueRef Input(int64_t megabytes) { return b_.AddInput("x", Megabytes(megabytes)); }
  ValueRef Weights(int64_t megabytes) { return b_.AddParameter("w", Megabytes(megabytes)); }
  graph::Graph Build(ValueRef last) { return std::move(b_).Build({last}); }

  graph::GraphBuilder b_;
};

std::vector<double> MissedMegabytes(const graph::Graph& graph, double cache_megabytes) {
  std::vector<double> megabytes;
  for (const Traffic& of_call : TrafficOf(graph, MemoryOf(graph), cache_megabytes * kMegabyte))
    megabytes.push_back(static_cast<double>(of_call.missed_bytes) / kMegabyte);
  return megabytes;
}

TEST_F(MemoryTrafficTest, WhatFitsIsThereInTheNextRun) {
  const graph::Graph graph = Build(Add(Op::relu, {Input(10)}));
  EXPECT_EQ(MissedMegabytes(graph, 40), std::vector<double>{0});
  EXPECT_EQ(MissedMegabytes(graph, 4), std::vector<double>{20});
}

// Of a table beyond the cache the rows that a call asks are there again in the next run.
TEST_F(MemoryTrafficTest, ALookupMovesItsRows) {
  const ValueRef indices = b_.AddInput("x", {{256}, graph::DType::int64});
  const ValueRef table = b_.AddParameter("w", {{int64_t{1} << 20, 1024}, graph::DType::float32});
  const graph::Graph graph = Build(Add(Op::embedding, {indices, table}));
  const std::vector<Traffic> traffic = TrafficOf(graph, MemoryOf(graph), 8 * kMegabyte);
  EXPECT_EQ(traffic[0].bytes, 256 * (8 + 2 * 4 * 1024));
  EXPECT_EQ(traffic[0].missed_bytes, 0);
}

// Each result is read by the next call and its memory used again; weights come round once a run.
TEST_F(MemoryTrafficTest, OfALongNetworkTheWeightsAreMissed) {
  ValueRef x = Input(4);
  for (int layer = 0; layer < 10; ++layer) x = Add(Op::mul, {x, Weights(4)});
  const std::vector<double> missed = MissedMegabytes(Build(x), 40);
  EXPECT_EQ(missed[0], 8);  // the input as well
  for (size_t call = 1; call < missed.size(); ++call) EXPECT_EQ(missed[call], 4) << call;
}

// Of a residual connection around more than the cache holds.
TEST_F(MemoryTrafficTest, WhatIsReadLateIsWrittenToMemoryAndMissed) {
  const ValueRef early = Add(Op::relu, {Input(4)});
  ValueRef x = early;
  for (int layer = 0; layer < 10; ++layer) x = Add(Op::relu, {x});
  const std::vector<double> missed = MissedMegabytes(Build(Add(Op::add, {x, early})), 20);
  EXPECT_EQ(missed.front(), 8);
  EXPECT_EQ(missed[5], 0);
  EXPECT_EQ(missed.back(), 4);
}

TEST_F(MemoryTrafficTest, AViewIsTheMemoryOfItsTensor) {
  const ValueRef y = Add(Op::relu, {Input(4)});
  const ValueRef view = Add(Op::transpose, {y}, {{"dim0", int64_t{1}}, {"dim1", int64_t{2}}});
  const std::vector<double> missed = MissedMegabytes(Build(Add(Op::mul, {view, y})), 40);
  EXPECT_EQ(missed, (std::vector<double>{0, 0, 0}));
}

// A compiler keeps the result of the first call in registers.
TEST_F(MemoryTrafficTest, WhatIsFusedIsNotMoved) {
  const graph::Graph graph = Build(Add(Op::mul, {Add(Op::relu, {Input(4)}), Weights(4)}));
  const Fusion fusion(graph, graph::ComputeLayout(graph), MemoryOf(graph));
  const std::vector<Traffic> traffic = TrafficOf(graph, MemoryOf(graph), 40 * kMegabyte, &fusion);
  EXPECT_EQ(static_cast<double>(traffic[0].bytes), 4 * kMegabyte);
  EXPECT_EQ(static_cast<double>(traffic[1].bytes), 8 * kMegabyte);
  EXPECT_EQ(static_cast<double>(TrafficOf(graph, MemoryOf(graph), 40 * kMegabyte)[1].bytes), 12 * kMegabyte);
}

// On networks whose calls read any earlier results.
TEST_F(MemoryTrafficTest, ASmallerCacheHoldsNoMore) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    std::mt19937_64 random(seed);
    graph::GraphBuilder b;
    const int64_t megabytes = 1 + static_cast<int64_t>(random() % 8);
    std::vector<ValueRef> values = {b.AddInput("x", Megabytes(megabytes))};
    while (values.size() < 20) {
      const ValueRef one = values[random() % values.size()], other = values[random() % values.size()];
      values.push_back(ValueRef::Node(*b.Add(random() % 2 == 0 ? Op::add : Op::mul, {}, {one, other})));
    }
    const graph::Graph graph = std::move(b).Build({values.back()});
    double before = 1e30;
    for (const double cache : {1, 3, 10, 30, 100, 1000}) {
      const std::vector<double> missed = MissedMegabytes(graph, cache);
      const double sum = std::accumulate(missed.begin(), missed.end(), 0.0);
      EXPECT_LE(sum, before) << seed << ": " << cache << " MB";
      before = sum;
    }
    EXPECT_EQ(before, 0) << seed;
  }
}

}  // namespace
}  // namespace cobra::predict
