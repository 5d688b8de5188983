#include "model/text/work_hints.h"

#include <gtest/gtest.h>

#include "graph/builder.h"

namespace cobra {
namespace {

using Ints = std::vector<int64_t>;

struct Call {
  Shape input, weight;
  int64_t groups = 1;
  Ints stride = {1, 1}, padding = {0, 0}, dilation = {1, 1};
};

ConvolutionWork WorkOf(const Call& c) {
  GraphBuilder b;
  const ValueRef x = b.AddInput("x", {c.input, DType::float32}), w = b.AddParameter("w", {c.weight, DType::float32});
  const Attributes attributes{
      {"stride", c.stride}, {"padding", c.padding}, {"dilation", c.dilation}, {"groups", c.groups}};
  const auto conv = b.Add(Op::conv2d, attributes, {x, w, ValueRef::None()});
  EXPECT_TRUE(conv.ok()) << conv.status();
  const Graph g = std::move(b).Build({ValueRef::Node(*conv)});
  return ConvolutionWorkOf(g, g.nodes()[0]).value_or(ConvolutionWork{});
}

TEST(WorkHints, SayWhichAlgorithmRuns) {
  EXPECT_STREQ(WorkOf({{1, 64, 56, 56}, {64, 64, 3, 3}}).algorithm, "blocked");
  EXPECT_STREQ(WorkOf({{1, 64, 56, 56}, {64, 64, 1, 1}}).algorithm, "columns");  // a product already
  EXPECT_STREQ(WorkOf({{1, 64, 4, 4}, {64, 64, 3, 3}}).algorithm, "columns");    // small
  EXPECT_STREQ(WorkOf({{1, 64, 56, 56}, {64, 1, 3, 3}, 64}).algorithm, "depthwise");
  EXPECT_STREQ(WorkOf({{1, 60, 56, 56}, {60, 20, 3, 3}, 3}).algorithm, "groups");
  EXPECT_STREQ(WorkOf({{1, 64, 56, 56}, {64, 32, 3, 3}, 2}).algorithm, "blocked");
}

TEST(WorkHints, ChannelsFillWholeBlocks) {
  EXPECT_EQ(WorkOf({{1, 17, 40, 40}, {33, 17, 3, 3}}).padded_macs, int64_t{32} * 48 * 9 * 38 * 38);
  EXPECT_EQ(WorkOf({{1, 32, 40, 40}, {48, 32, 3, 3}}).padded_macs, int64_t{32} * 48 * 9 * 38 * 38);
}

// Counted one by one.
TEST(WorkHints, TapsInThePaddingAreNotInside) {
  const Call c{{1, 64, 21, 40}, {32, 64, 7, 8}, 1, {7, 3}, {2, 8}, {2, 1}};
  const auto taps = [&](int64_t input, size_t side, int64_t window) {
    int64_t inside = 0;
    const int64_t output = (input + 2 * c.padding[side] - c.dilation[side] * (window - 1) - 1) / c.stride[side] + 1;
    for (int64_t o = 0; o < output; ++o) {
      for (int64_t j = 0; j < window; ++j) {
        const int64_t at = o * c.stride[side] - c.padding[side] + j * c.dilation[side];
        inside += at >= 0 && at < input;
      }
    }
    return inside;
  };
  EXPECT_EQ(WorkOf(c).inside_macs, int64_t{32} * 64 * taps(21, 0, 7) * taps(40, 1, 8));
  const Call without{{1, 64, 21, 40}, {32, 64, 3, 3}};
  EXPECT_EQ(WorkOf(without).inside_macs, int64_t{32} * 64 * 9 * 19 * 38);
}

TEST(WorkHints, LargeOutputsAreFreshMemory) {
  const auto bytes = [](int64_t width) {
    GraphBuilder b;
    const int32_t relu = *b.Add(Op::relu, {}, {b.AddInput("x", {{1, 1024, width}, DType::float32})});
    const Graph g = std::move(b).Build({ValueRef::Node(relu)});
    return FreshBytes(g.nodes()[0]);
  };
  EXPECT_EQ(bytes(8000), 0);
  EXPECT_EQ(bytes(8192), int64_t{1} << 25);
}

}  // namespace
}  // namespace cobra
