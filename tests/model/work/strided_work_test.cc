#include "model/predict/work/strided_work.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "graph/builder/builder.h"

namespace cobra::predict {
namespace {

using graph::Attributes;
using graph::Op;
using graph::ValueRef;
using graph::ValueRefs;

constexpr int64_t kBatch = 4, kChannels = 16, kSide = 8, kElements = kBatch * kChannels * kSide * kSide;
constexpr int64_t kBytes = 4 * kElements;

class StridedWorkTest : public testing::Test {
 protected:
  ValueRef Add(Op op, const ValueRefs& inputs, const Attributes& attributes = {}) {
    const auto call = b_.Add(op, attributes, inputs);
    EXPECT_TRUE(call.ok()) << call.status();
    return ValueRef::Node(*call);
  }
  ValueRef Permute(ValueRef x, const std::vector<int64_t>& dims) { return Add(Op::permute, {x}, {{"dims", dims}}); }
  ValueRef Upsample(ValueRef x, const std::string& mode) {
    return Add(Op::interpolate, {x}, {{"scale_factor", 2.0}, {"mode", mode}});
  }
  ValueRef Flatten(ValueRef x) { return Add(Op::reshape, {x}, {{"shape", std::vector<int64_t>{kElements}}}); }
  ValueRef Softmax(ValueRef x) { return Add(Op::softmax, {x}, {{"dim", int64_t{-1}}}); }
  ValueRef Matmul(ValueRef a, ValueRef b) { return Add(Op::matmul, {a, b}); }
  // To half as many channels, or to as many if it is depthwise.
  ValueRef Conv(ValueRef x, int64_t groups) {
    const int64_t out = groups == kChannels ? kChannels : kChannels / 2;
    const ValueRef weight = b_.AddParameter("w", {{out, kChannels / groups, 3, 3}, graph::DType::float32});
    const std::vector<int64_t> ones{1, 1};
    return Add(Op::conv2d, {x, weight, ValueRef::None()},
               {{"stride", ones}, {"padding", ones}, {"dilation", ones}, {"groups", groups}});
  }
  // Of the last call.
  StridedWork WorkOf(ValueRef last, bool fuses = false, bool channels_last = false) {
    const graph::Graph graph = std::move(b_).Build({last});
    const graph::Layout layout = graph::ComputeLayout(graph, channels_last || (fuses && CompilesChannelsLast(graph)));
    return StridedWorkOf(graph, layout, fuses, /*in_half=*/true)[static_cast<size_t>(last.index)];
  }

  graph::GraphBuilder b_;
  ValueRef x_ = b_.AddInput("x", {{kBatch, kChannels, kSide, kSide}, graph::DType::float32});
  ValueRef y_ = b_.AddInput("y", {{kBatch, kSide, kSide, kChannels}, graph::DType::float32});
};

TEST_F(StridedWorkTest, AnInterpolationGivesAPixelToAThread) {
  EXPECT_EQ(WorkOf(Upsample(x_, "bilinear")).thread_steps, kBatch * kChannels);
}

TEST_F(StridedWorkTest, ABicubicOneToo) {
  EXPECT_EQ(WorkOf(Upsample(Permute(y_, {0, 3, 1, 2}), "bicubic")).thread_steps, kBatch * kChannels);
}

TEST_F(StridedWorkTest, WithChannelsLastAThreadHasOneElement) {
  EXPECT_EQ(WorkOf(Upsample(Permute(y_, {0, 3, 1, 2}), "bilinear")).thread_steps, 0);
}

TEST_F(StridedWorkTest, InANetworkWhoseImagesAreChannelsLast) {
  EXPECT_EQ(WorkOf(Upsample(x_, "bilinear"), false, /*channels_last=*/true).thread_steps, 0);
}

TEST_F(StridedWorkTest, TheNearestPixelHasAThreadForEachElement) {
  EXPECT_EQ(WorkOf(Upsample(x_, "nearest")).thread_steps, 0);
}

TEST_F(StridedWorkTest, ACompilerWritesItsOwnInterpolation) {
  EXPECT_EQ(WorkOf(Upsample(x_, "bilinear"), /*fuses=*/true).thread_steps, 0);
}

TEST_F(StridedWorkTest, ASoftmaxOfAPermutedTensorCopiesItFirst) {
  const StridedWork work = WorkOf(Softmax(Permute(x_, {0, 2, 3, 1})));
  EXPECT_EQ(work.copies, 1);
  EXPECT_EQ(work.copied_bytes, 2 * kBytes);
  EXPECT_EQ(work.strided_bytes, 2 * kBytes);
}

TEST_F(StridedWorkTest, ACompiledOneReadsItAsItLies) {
  EXPECT_EQ(WorkOf(Softmax(Permute(x_, {0, 2, 3, 1})), /*fuses=*/true).copies, 0);
}

// Rows that lie apart are as they are, one behind the other.
TEST_F(StridedWorkTest, ACopyOfWholeRowsIsInOrder) {
  const StridedWork work = WorkOf(Softmax(Permute(x_, {0, 2, 1, 3})));
  EXPECT_EQ(work.copies, 1);
  EXPECT_EQ(work.strided_bytes, 0);
}

TEST_F(StridedWorkTest, WhatIsInOrderAgainIsNotCopied) {
  EXPECT_EQ(WorkOf(Softmax(Permute(Permute(x_, {0, 2, 3, 1}), {0, 3, 1, 2}))).copies, 0);
}

TEST_F(StridedWorkTest, AProductTakesTransposedMatrices) {
  EXPECT_EQ(WorkOf(Matmul(x_, Permute(x_, {0, 1, 3, 2}))).copies, 0);
}

// The distances between matrices are two, and BLAS has one.
TEST_F(StridedWorkTest, ButNotABatchInAnotherOrder) {
  const ValueRef permuted = Permute(x_, {0, 2, 1, 3});
  const StridedWork work = WorkOf(Matmul(permuted, Permute(permuted, {0, 1, 3, 2})));
  EXPECT_EQ(work.copies, 2);
  EXPECT_EQ(work.copied_bytes, 4 * kBytes);
}

TEST_F(StridedWorkTest, ALinearLayerTakesTransposedMatrices) {
  const ValueRef tokens = Add(Op::flatten, {x_}, {{"start_dim", int64_t{2}}, {"end_dim", int64_t{3}}});
  const ValueRef weight = b_.AddParameter("w", {{2, kChannels}, graph::DType::float32});
  const ValueRef transposed = Add(Op::transpose, {tokens}, {{"dim0", int64_t{1}}, {"dim1", int64_t{2}}});
  EXPECT_EQ(WorkOf(Add(Op::linear, {transposed, weight, ValueRef::None()})).copies, 0);
}

TEST_F(StridedWorkTest, ALinearLayerOverPermutedChannelsCopies) {
  const ValueRef weight = b_.AddParameter("w", {{2, kChannels}, graph::DType::float32});
  const StridedWork work = WorkOf(Add(Op::linear, {Permute(x_, {0, 2, 3, 1}), weight, ValueRef::None()}));
  EXPECT_EQ(work.copies, 1);
  EXPECT_EQ(work.strided_bytes, 2 * kBytes);
}

TEST_F(StridedWorkTest, AnAdditionReadsTheOtherOrderApart) {
  EXPECT_EQ(WorkOf(Add(Op::add, {x_, Permute(y_, {0, 3, 1, 2})})).strided_bytes, kBytes);
}

TEST_F(StridedWorkTest, SoDoesAConcatenation) {
  EXPECT_EQ(WorkOf(Add(Op::cat, {x_, Permute(y_, {0, 3, 1, 2})}, {{"dim", int64_t{1}}})).strided_bytes, kBytes);
}

TEST_F(StridedWorkTest, AStackAddsADimension) {
  EXPECT_EQ(WorkOf(Add(Op::stack, {x_, Permute(y_, {0, 3, 1, 2})}, {{"dim", int64_t{0}}})).strided_bytes, kBytes);
}

TEST_F(StridedWorkTest, AViewThatTurnsTheInnermostDimensionIsStrided) {
  EXPECT_EQ(WorkOf(Flatten(Permute(x_, {0, 2, 3, 1}))).strided_bytes, 2 * kBytes);
}

TEST_F(StridedWorkTest, AViewThatCopiesWholeRowsIsNot) {
  EXPECT_EQ(WorkOf(Flatten(Permute(x_, {0, 2, 1, 3}))).strided_bytes, 0);
}

TEST_F(StridedWorkTest, AConvolutionTurnsImagesUnlessChannelsAreLast) {
  EXPECT_EQ(WorkOf(Conv(x_, /*groups=*/1)).turned_bytes, kBytes + kBytes / 2);
}

TEST_F(StridedWorkTest, OneBehindAPermutationDoesNot) {
  EXPECT_EQ(WorkOf(Conv(Permute(y_, {0, 3, 1, 2}), 1)).turned_bytes, 0);
}

TEST_F(StridedWorkTest, NeitherDoesOneThatIsCompiled) {
  EXPECT_EQ(WorkOf(Conv(x_, 1), /*fuses=*/true).turned_bytes, 0);
}

// ... and makes what comes in rows lie as the weights do.
TEST_F(StridedWorkTest, WithWeightsChannelsLastAConvolutionCopiesRows) {
  const ValueRef rows = Add(Op::softmax, {x_}, {{"dim", int64_t{-1}}});
  const StridedWork work = WorkOf(Conv(rows, 1), false, /*channels_last=*/true);
  EXPECT_EQ(work.copies, 1);
  EXPECT_EQ(work.turned_bytes, 0);
}

// Of parameters, norms and products there are too many for one convolution.
TEST_F(StridedWorkTest, ACompilerLeavesATransformerAsItIs) {
  ValueRef x = Conv(x_, 1);
  EXPECT_TRUE(CompilesChannelsLast(std::move(b_).Build({x})));
  b_ = graph::GraphBuilder();
  x_ = b_.AddInput("x", {{kBatch, kChannels, kSide, kSide}, graph::DType::float32});
  x = Conv(x_, 1);
  for (int i = 0; i < 40; ++i)
    x = Add(Op::layer_norm, {x, ValueRef::None(), ValueRef::None()},
            {{"normalized_shape", std::vector<int64_t>{kSide}}});
  EXPECT_FALSE(CompilesChannelsLast(std::move(b_).Build({x})));
}

TEST_F(StridedWorkTest, UnlessItIsGroupedWhichACompilerLeavesAsItIs) {
  EXPECT_EQ(WorkOf(Conv(x_, 2), /*fuses=*/true).turned_bytes, kBytes + kBytes / 2);
}

TEST_F(StridedWorkTest, NorADepthwiseOne) { EXPECT_EQ(WorkOf(Conv(x_, kChannels)).turned_bytes, 0); }

}  // namespace
}  // namespace cobra::predict
