#include "model/predict/work/call_work.h"

#include <gtest/gtest.h>

#include "graph/builder/builder.h"

namespace cobra::predict {
namespace {

using Algorithm = graph::ConvolutionAlgorithm;
using Ints = std::vector<int64_t>;

struct Call {
  graph::Shape input, weight;
  int64_t groups = 1;
  Ints stride = {1, 1}, padding = {0, 0}, dilation = {1, 1};
};

ConvolutionWork WorkOf(const Call& c) {
  graph::GraphBuilder b;
  const graph::ValueRef x = b.AddInput("x", {c.input, graph::DType::float32}),
                        w = b.AddParameter("w", {c.weight, graph::DType::float32});
  const graph::Attributes attributes{
      {"stride", c.stride}, {"padding", c.padding}, {"dilation", c.dilation}, {"groups", c.groups}};
  const auto conv = b.Add(graph::Op::conv2d, attributes, {x, w, graph::ValueRef::None()});
  EXPECT_TRUE(conv.ok()) << conv.status();
  const graph::Graph g = std::move(b).Build({graph::ValueRef::Node(*conv)});
  return ConvolutionWorkOf(g, g.nodes()[0]).value_or(ConvolutionWork{});
}

TEST(CallWork, BlocksAreOfWholeChannels) {
  const ConvolutionWork filled = WorkOf({{1, 17, 40, 40}, {33, 17, 3, 3}}),
                        whole = WorkOf({{1, 32, 40, 40}, {48, 32, 3, 3}});
  EXPECT_EQ(filled.executed_macs, int64_t{32} * 48 * 9 * 38 * 38);
  EXPECT_EQ(whole.executed_macs, filled.executed_macs);
  const int64_t source = 4 * 32 * 40 * 40, result = 4 * 48 * 38 * 38;
  EXPECT_EQ(filled.shuffled_bytes, source + result);
  EXPECT_EQ(filled.copied_bytes, 0);
  EXPECT_EQ(whole.copied_bytes, source + result);
  EXPECT_EQ(whole.weight_copy_bytes, 4 * 32 * 48 * 9);
}

TEST(CallWork, ImagesOfFewChannelsStayAsTheyAre) {
  const ConvolutionWork work = WorkOf({{1, 3, 224, 224}, {64, 3, 7, 7}, 1, {2, 2}});
  EXPECT_EQ(work.algorithm, Algorithm::kBlocked);
  EXPECT_EQ(work.executed_macs, work.unpadded_macs);
  EXPECT_EQ(work.copied_bytes, 4 * 64 * 109 * 109);  // the result alone
}

TEST(CallWork, FewSumsAtOnceWait) {
  const ConvolutionWork narrow = WorkOf({{1, 64, 128, 4}, {64, 64, 3, 3}}),
                        wide = WorkOf({{1, 64, 128, 40}, {64, 64, 3, 3}});
  EXPECT_EQ(narrow.stalled_macs, narrow.executed_macs * 4);  // two places of the eight that hide the latency
  EXPECT_EQ(wide.stalled_macs, wide.executed_macs);
}

// An untrusted graph: nobody waits for 2^38 taps, and no amount overflows.
TEST(CallWork, AbsurdConvolutionsHaveNoRules) {
  const auto has_rules = [](const Call& c) { return WorkOf(c).unpadded_macs > 0; };
  EXPECT_TRUE(has_rules({{1, 1, 1, 1 << 10}, {1, 1, 1, 1 << 10}}));
  EXPECT_FALSE(has_rules({{1, 1, 1, int64_t{1} << 30}, {1, 1, 1, int64_t{1} << 30}}));
  EXPECT_FALSE(has_rules({{1, 1, (1 << 15) - 1, (1 << 15) - 1}, {1, 1, 1 << 14, 1 << 14}}));
}

TEST(CallWork, NcnnTransformsTiles) {
  const ConvolutionWork work = WorkOf({{2, 64, 28, 28}, {32, 64, 3, 3}, 1, {1, 1}, {1, 1}});
  EXPECT_EQ(work.winograd_macs, int64_t{2} * 5 * 5 * 64 * 64 * 32);
  EXPECT_EQ(work.winograd_bytes, 4 * 2 * 5 * 5 * 64 * (64 + 32));
  EXPECT_EQ(WorkOf({{1, 64, 28, 28}, {32, 64, 3, 3}, 1, {2, 2}}).winograd_macs, 0);
  EXPECT_EQ(WorkOf({{1, 64, 28, 28}, {64, 8, 3, 3}, 8}).winograd_macs, 0);
  EXPECT_EQ(WorkOf({{1, 64, 28, 28}, {32, 64, 5, 5}}).winograd_macs, 0);
  EXPECT_EQ(WorkOf({{1, 8, 28, 28}, {8, 8, 3, 3}}).winograd_macs, 0);
}

// Depthwise convolutions of 68 and 142 channels ran at 22 and 2.4 G multiply-accumulates a second.
TEST(CallWork, WhatDoesNotFitOnnxRuntimesBlocksIsAProduct) {
  EXPECT_EQ(WorkOf({{1, 68, 28, 28}, {68, 1, 5, 5}, 68}).plain_macs, 0);
  EXPECT_EQ(WorkOf({{1, 64, 28, 28}, {64, 16, 3, 3}, 4}).plain_macs, 0);
  EXPECT_EQ(WorkOf({{1, 3, 28, 28}, {64, 3, 3, 3}}).plain_macs, 0);
  const ConvolutionWork odd = WorkOf({{1, 142, 28, 28}, {142, 1, 3, 3}, 142}),
                        narrow = WorkOf({{1, 64, 28, 28}, {64, 8, 1, 1}, 8});
  EXPECT_EQ(odd.plain_macs, 142 * 9 * 26 * 26);
  EXPECT_EQ(odd.plain_products, 142);
  EXPECT_EQ(odd.plain_column_bytes, 4 * 142 * 9 * 26 * 26);
  EXPECT_EQ(narrow.plain_macs, 64 * 8 * 28 * 28);
  EXPECT_EQ(narrow.plain_column_bytes, 0);  // the input is the matrix
}

TEST(CallWork, WindowsThatMissTheInputGoToTheProduct) {
  const ConvolutionWork work = WorkOf({{1, 64, 40, 40}, {60, 64, 3, 2}, 1, {1, 1}, {1, 2}});
  EXPECT_EQ(work.algorithm, Algorithm::kGemm);
  EXPECT_EQ(work.column_bytes, 4 * 64 * (3 * 40 - 2) * 2 * 43);  // two rows of taps stand in the padding
  EXPECT_EQ(work.executed_macs,
            int64_t{64} * 6 * 1728 * 64);  // 40 x 43 places in rounds of 48, 60 channels in rounds of 8
  EXPECT_EQ(work.copied_bytes, 4 * 60 * 40 * 43);
}

TEST(CallWork, LargeCopiesAreFreshMemory) {
  EXPECT_EQ(WorkOf({{1, 512, 8, 8}, {1024, 512, 4, 4}}).mapped_bytes, int64_t{4} * 1024 * 512 * 16);  // of the weights
  EXPECT_EQ(WorkOf({{1, 512, 8, 8}, {960, 512, 4, 4}}).mapped_bytes, 0);
}

// Counted one by one.
TEST(CallWork, TapsInThePaddingAreNotInside) {
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
  EXPECT_EQ(WorkOf(c).unpadded_macs, int64_t{32} * 64 * taps(21, 0, 7) * taps(40, 1, 8));
  const Call without{{1, 64, 21, 40}, {32, 64, 3, 3}};
  EXPECT_EQ(WorkOf(without).unpadded_macs, int64_t{32} * 64 * 9 * 19 * 38);
}

TEST(CallWork, LargeOutputsAreFreshMemory) {
  const auto bytes = [](int64_t width) {
    graph::GraphBuilder b;
    const int32_t relu = *b.Add(graph::Op::relu, {}, {b.AddInput("x", {{1, 1024, width}, graph::DType::float32})});
    const graph::Graph g = std::move(b).Build({graph::ValueRef::Node(relu)});
    return MappedBytes(g.nodes()[0]);
  };
  EXPECT_EQ(bytes(8000), 0);
  EXPECT_EQ(bytes(8192), int64_t{1} << 25);
}

// On a processor int32 - float32 is a conversion to fresh memory, then a subtraction.
TEST(CallWork, ArgumentsOfAnotherTypeAreConvertedIntoFreshMemory) {
  const auto bytes = [](graph::Op op, graph::DType a, graph::DType b, int64_t width) {
    graph::GraphBuilder builder;
    const graph::ValueRef x = builder.AddInput("x", {{1, 1024, width}, a});
    const graph::ValueRef y = builder.AddInput("y", {{1, 1024, 1}, b});
    const int32_t call = *builder.Add(op, {}, {x, y});
    const graph::Graph g = std::move(builder).Build({graph::ValueRef::Node(call)});
    return MappedByConversions(g, g.nodes()[0]);
  };
  using graph::DType;
  using graph::Op;
  EXPECT_EQ(bytes(Op::sub, DType::int32, DType::float32, 8192), int64_t{1} << 25);
  EXPECT_EQ(bytes(Op::mul, DType::int8, DType::float32, 8192), int64_t{1} << 25);  // in the type of the result
  EXPECT_EQ(bytes(Op::lt, DType::int32, DType::float32, 8192), int64_t{1} << 25);
  EXPECT_EQ(bytes(Op::sub, DType::float32, DType::int32, 8192), 0);  // of the small one
  EXPECT_EQ(bytes(Op::sub, DType::int32, DType::int32, 8192), 0);
  EXPECT_EQ(bytes(Op::sub, DType::int32, DType::float32, 8000), 0);
}

}  // namespace
}  // namespace cobra::predict
