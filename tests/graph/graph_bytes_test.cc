#include "graph/form/graph_bytes.h"

#include <malloc.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/sanitizer.h"
#include "graph/builder/builder.h"
#include "gtest/gtest.h"

namespace cobra::graph {
namespace {

Graph Unbound(int64_t results, int rank) {
  GraphBuilder builder;
  Shape shape(static_cast<size_t>(rank), 1);
  shape[0] = results;
  const ValueRef x = builder.AddInput("x", {shape});
  EXPECT_TRUE(builder.Add(Op::unbind, {{"dim", int64_t{0}}}, {x}).ok());
  return std::move(builder).Build({ValueRef::Node(0)});
}

Graph Chain(int calls) {
  GraphBuilder builder;
  ValueRef x = builder.AddInput("x", {{1, 8, 16, 16}});
  const ValueRef w = builder.AddParameter("weight", {{8, 8, 3, 3}});
  Origin origin;
  origin.module_path = "layer1.0.conv1.of.a.long.name";
  for (int i = 0; i < calls; ++i) {
    Attributes attributes{{"stride", std::vector<int64_t>{1, 1}},
                          {"padding", std::vector<int64_t>{1, 1}},
                          {"dilation", std::vector<int64_t>{1, 1}},
                          {"groups", int64_t{1}}};
    x = ValueRef::Node(builder.Add(Op::conv2d, std::move(attributes), {x, w, ValueRef::None()}, origin).value());
  }
  return std::move(builder).Build({x});
}

int64_t HeldOnTheHeap() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

TEST(GraphBytesTest, DimensionsOfResultsCount) {
  EXPECT_GT(GraphBytes(Unbound(1000, 60)), 1000 * 59 * 8);
  EXPECT_LT(GraphBytes(Unbound(1000, 60)), 1000 * 59 * 8 + 1000 * 200);
  EXPECT_LT(GraphBytes(Unbound(1000, 2)), 1000 * 100);
}

TEST(GraphBytesTest, IsAboutWhatTheHeapHolds) {
#ifdef COBRA_SANITIZED
  GTEST_SKIP() << "the sanitizer has a malloc of its own";
#endif
  for (const bool is_chain : {true, false}) {
    const int64_t before = HeldOnTheHeap();
    const std::optional<Graph> graph = is_chain ? Chain(5000) : Unbound(20'000, 30);
    const int64_t held = HeldOnTheHeap() - before;
    EXPECT_GT(GraphBytes(*graph), held * 3 / 4) << is_chain;  // a list that grows has room for more calls
    EXPECT_LT(GraphBytes(*graph), held * 4 / 3) << is_chain;
  }
}

}  // namespace
}  // namespace cobra::graph
