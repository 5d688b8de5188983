#include "model/predict/work/gpu_work.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "graph/builder/builder.h"
#include "model/predict/work/target_work.h"

namespace cobra::predict {
namespace {

using graph::Op;
using graph::ValueRef;
using graph::ValueRefs;

constexpr int64_t kRows = 64, kWidth = 48, kBytes = kRows * kWidth * 4;

class GpuWorkTest : public testing::Test {
 protected:
  ValueRef Add(Op op, const ValueRefs& inputs, const graph::Attributes& attributes = {}) {
    const auto call = b_.Add(op, attributes, inputs);
    EXPECT_TRUE(call.ok()) << call.status();
    return ValueRef::Node(*call);
  }
  ValueRef Reshape(ValueRef x) { return Add(Op::reshape, {x}, {{"shape", std::vector<int64_t>{kRows * kWidth}}}); }
  ValueRef Transpose(ValueRef x) { return Add(Op::transpose, {x}, {{"dim0", int64_t{0}}, {"dim1", int64_t{1}}}); }
  ValueRef BatchNorm(ValueRef x, bool training) {
    const auto buffer = [this] { return b_.AddBuffer("b", {{kWidth}, graph::DType::float32}); };
    return Add(Op::batch_norm, {x, buffer(), buffer()}, {{"eps", 1e-5}, {"training", training}});
  }
  // Windows beside heads.
  ValueRef WindowAttention() {
    const auto input = [this] { return b_.AddInput("q", {{2, 3, 5, 7, 8}, graph::DType::float32}); };
    return Add(Op::scaled_dot_product_attention, {input(), input(), input()});
  }
  // Of the last call, on a GPU; with the version's rules.
  std::array<float, kWorkTerms> WorkOf(ValueRef last, bool knows_gpu_work = true, const std::string& compile = "eager",
                                       const std::string& precision = "float32") {
    const graph::Graph graph = std::move(b_).Build({last});
    TargetSpec spec;
    spec.kind = "gpu";
    spec.runtime = runtime_;
    spec.compile = compile;
    spec.precision = precision;
    auto log_work = LogWork(graph, last.index);
    const TargetWorkKind kind = TargetWorkKindOf(spec, knows_gpu_work);
    if (!kind.has_none()) SetTargetWork(TargetWorkOf(graph, kind)[static_cast<size_t>(last.index)], &log_work);
    return log_work;
  }

  std::string runtime_ = "torch-2.4";
  graph::GraphBuilder b_;
  ValueRef x_ = b_.AddInput("x", {{kRows, kWidth}, graph::DType::float32});
};

TEST_F(GpuWorkTest, AReshapeOfATransposedTensorIsAKernelThatCopies) {
  const auto work = WorkOf(Reshape(Transpose(x_)));
  EXPECT_EQ(work[kArgumentCopies], 0);  // the logarithm of one
  EXPECT_NEAR(work[kArgumentCopyBytes], std::log(2.0 * kBytes), 1e-4);
}

TEST_F(GpuWorkTest, AReshapeOfWhatIsInOrderMovesNothing) {
  const auto work = WorkOf(Reshape(x_));
  for (const WorkTerm term : {kViewBytes, kArgumentCopies, kArgumentCopyBytes, kMissedBytes})
    EXPECT_EQ(work[term], kNoWork) << term;
}

TEST_F(GpuWorkTest, StatisticsOfTheBatchTakeAKernelMore) {
  EXPECT_NEAR(WorkOf(BatchNorm(x_, true))[kComposedBytes], std::log(1.0 * kBytes), 1e-4);
}

TEST_F(GpuWorkTest, KnownStatisticsTakeNone) { EXPECT_EQ(WorkOf(BatchNorm(x_, false))[kComposedBytes], kNoWork); }

// Three groups of 16 channels: a product each for a processor's library, one kernel for a GPU.
TEST_F(GpuWorkTest, AGroupedConvolutionIsOneKernel) {
  const auto conv = [this] {
    const ValueRef weight = b_.AddParameter("w", {{48, 3, 1}, graph::DType::float32});
    const std::vector<int64_t> one{1}, none{0};
    return Add(Op::conv1d, {Add(Op::unsqueeze, {x_}, {{"dim", int64_t{2}}}), weight},
               {{"stride", one}, {"padding", none}, {"dilation", one}, {"groups", int64_t{16}}});
  };
  const auto work = WorkOf(conv());
  for (const WorkTerm term : {kProducts, kPlainProducts, kPlainMacs, kColumnBytes, kCopiedBytes, kStalledMacs})
    EXPECT_EQ(work[term], kNoWork) << term;
  for (const WorkTerm term : {kUnpaddedMacs, kPointwiseMacs})
    EXPECT_NEAR(work[term], std::log(64.0 * 48 * 3), 1e-4) << term;
}

TEST_F(GpuWorkTest, WhatACompilerFusesIsNoKernelAndReadsNothing) {
  const auto work = WorkOf(Add(Op::sigmoid, {Add(Op::relu, {x_})}), true, "inductor");
  EXPECT_LT(work[kOneCall], -1);
  EXPECT_EQ(work[kReadBytes], kNoWork);
  EXPECT_EQ(work[kWrittenBytes], kNoWork);
  EXPECT_NEAR(work[kFusedBytes], std::log(1.0 * kBytes), 1e-4);
}

TEST_F(GpuWorkTest, AKernelThatACompilerMakesIsACall) {
  EXPECT_EQ(WorkOf(Add(Op::sigmoid, {x_}), true, "inductor")[kOneCall], 0);
}

// Since 2.5 it computes in float32 in half precision, too, and no tensor core does its products.
TEST_F(GpuWorkTest, AnAttentionOfFiveDimensionsInHalfPrecision) {
  const auto before = WorkOf(WindowAttention(), true, "eager", "amp-float16");
  EXPECT_NE(before[kUnpaddedMacs], kNoWork);
  runtime_ = "torch-2.5";
  b_ = graph::GraphBuilder();
  const auto since = WorkOf(WindowAttention(), true, "eager", "amp-float16");
  EXPECT_EQ(since[kUnpaddedMacs], kNoWork);
  EXPECT_GT(since[kOperations], before[kUnpaddedMacs]);
  EXPECT_GT(since[kArgumentCopyBytes], before[kArgumentCopyBytes] + std::log(2.0));
}

// A depthwise convolution over images, on a GPU.
class DepthwiseTest : public GpuWorkTest {
 protected:
  // Of 64 channels, `results` for each.
  ValueRef ConvOf(ValueRef image, int64_t window, int64_t stride = 1, int64_t results = 1) {
    const ValueRef weight = b_.AddParameter("w", {{64 * results, 1, window, window}, graph::DType::float32});
    const auto both = [](int64_t n) { return std::vector<int64_t>{n, n}; };
    return Add(
        Op::conv2d, {image, weight},
        {{"stride", both(stride)}, {"padding", both(window / 2)}, {"dilation", both(1)}, {"groups", int64_t{64}}});
  }
  ValueRef Turned(ValueRef rows) { return Add(Op::permute, {rows}, {{"dims", std::vector<int64_t>{0, 3, 1, 2}}}); }
  ValueRef Conv(int64_t window, int64_t stride, bool channels_last, int64_t results = 1) {
    constexpr int64_t kSide = 28;
    const ValueRef image = channels_last ? Turned(b_.AddInput("image", {{8, kSide, kSide, 64}, graph::DType::float32}))
                                         : b_.AddInput("image", {{8, 64, kSide, kSide}, graph::DType::float32});
    return ConvOf(image, window, stride, results);
  }
  // The one kind of work of depthwise convolutions that the call has.
  int KindOf(ValueRef call, const std::string& precision) {
    const auto work = WorkOf(call, true, "eager", precision);
    int kind = -1;
    for (const WorkTerm term : {kDepthwiseMacs, kOwnDepthwiseMacs, kLastDepthwiseMacs, kWideDepthwiseMacs}) {
      if (work[term] == kNoWork) continue;
      EXPECT_EQ(kind, -1);
      EXPECT_EQ(work[term], work[kUnpaddedMacs]);
      kind = term;
    }
    return kind;
  }
};

TEST_F(DepthwiseTest, SmallWindowsAreCudnnsInFloat16) {
  EXPECT_EQ(KindOf(Conv(3, 1, false), "amp-float16"), kDepthwiseMacs);
}
TEST_F(DepthwiseTest, OfStrideTwoOnlyThoseOfManyChannels) {
  EXPECT_EQ(KindOf(Conv(3, 2, false), "amp-float16"), kOwnDepthwiseMacs);
}
TEST_F(DepthwiseTest, WideWindowsArePyTorchsOwn) {
  EXPECT_EQ(KindOf(Conv(7, 1, false), "amp-float16"), kOwnDepthwiseMacs);
}
TEST_F(DepthwiseTest, ThoseOfFloat32ArePyTorchsOwn) {
  EXPECT_EQ(KindOf(Conv(3, 1, false), "float32"), kOwnDepthwiseMacs);
}
TEST_F(DepthwiseTest, ThoseOfBfloat16ArePyTorchsOwn) {
  EXPECT_EQ(KindOf(Conv(3, 1, false), "bfloat16"), kOwnDepthwiseMacs);
}
// 2,148,532,224 elements.
TEST_F(DepthwiseTest, WhatThirtyTwoBitsDoNotCountIsCudnnsSince29) {
  const auto conv = [this] { return ConvOf(b_.AddInput("image", {{2047, 64, 128, 129}, graph::DType::float32}), 7); };
  EXPECT_EQ(KindOf(conv(), "amp-float16"), kOwnDepthwiseMacs);
  runtime_ = "torch-2.9";
  b_ = graph::GraphBuilder();
  EXPECT_EQ(KindOf(conv(), "amp-float16"), kDepthwiseMacs);
}
TEST_F(DepthwiseTest, LikewiseThoseOfTwoResultsForAChannel) {
  EXPECT_EQ(KindOf(Conv(7, 2, false, 2), "amp-float16"), kOwnDepthwiseMacs);
}
// Half of the channels of a tensor whose channels are last: cuDNN's kernel, after a copy that keeps
// the order.
TEST_F(DepthwiseTest, ChannelsThatAreLastMayLeaveGaps) {
  const ValueRef rows = b_.AddInput("rows", {{8, 14, 14, 128}, graph::DType::float32});
  const graph::Attributes narrow{{"dim", int64_t{3}}, {"start", int64_t{0}}, {"length", int64_t{64}}};
  const auto work = WorkOf(ConvOf(Turned(Add(Op::narrow, {rows}, narrow)), 7));
  EXPECT_NE(work[kLastDepthwiseMacs], kNoWork);
  EXPECT_NEAR(work[kArgumentCopyBytes], std::log(2.0 * 4 * 8 * 14 * 14 * 64), 1e-4);
  EXPECT_EQ(work[kStridedBytes], kNoWork);
}
TEST_F(DepthwiseTest, WithTheChannelsLastTheseAreNoDepthwiseOnes) {
  EXPECT_EQ(KindOf(Conv(7, 2, true, 2), "amp-float16"), -1);
}
TEST_F(DepthwiseTest, WithTheChannelsLastTheyAreCudnns) {
  EXPECT_EQ(KindOf(Conv(7, 1, true), "float32"), kLastDepthwiseMacs);
}
TEST_F(DepthwiseTest, ThereWideWindowsAreAKindOfTheirOwn) {
  EXPECT_EQ(KindOf(Conv(9, 1, true), "amp-float16"), kWideDepthwiseMacs);
}

// Windows beside heads: no kernel of its own.
TEST_F(GpuWorkTest, AnAttentionOfFiveDimensionsIsKernelsThatMoveBytes) {
  constexpr int64_t kScores = 2 * 3 * 5 * 7 * 7, kMacs = 2 * kScores * 8;
  const auto work = WorkOf(WindowAttention());
  for (const WorkTerm term : {kComposedKernels, kComposedBytes}) EXPECT_EQ(work[term], kNoWork) << term;
  EXPECT_NEAR(work[kArgumentCopies], std::log(3.0), 1e-4);
  EXPECT_GT(work[kArgumentCopyBytes], std::log(4.0 * 4 * kScores));
  EXPECT_NEAR(work[kUnpaddedMacs], std::log(1.0 * kMacs), 1e-4);
}

// Its prices are those of a processor's work, on GPUs too.
TEST_F(GpuWorkTest, AnOlderVersionIsAskedAsItWasTrained) {
  const auto work = WorkOf(Reshape(Transpose(x_)), /*knows_gpu_work=*/false);
  EXPECT_NEAR(work[kViewBytes], std::log(1.0 * kBytes), 1e-4);
  EXPECT_EQ(work[kComposedBytes], kNoWork);
}

}  // namespace
}  // namespace cobra::predict
