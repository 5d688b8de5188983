#include "model/predict/work/fusion.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "graph/builder/builder.h"

namespace cobra::predict {
namespace {

using graph::Op;
using graph::ValueRef;
using graph::ValueRefs;

constexpr int64_t kRows = 64, kWidth = 32;

class FusionTest : public testing::Test {
 protected:
  ValueRef Parameter(graph::Shape shape) { return b_.AddParameter("w", {std::move(shape), graph::DType::float32}); }
  ValueRef Add(Op op, const ValueRefs& inputs, const graph::Attributes& attributes = {}) {
    const auto call = b_.Add(op, attributes, inputs);
    EXPECT_TRUE(call.ok()) << call.status();
    return ValueRef::Node(*call);
  }
  ValueRef Linear(ValueRef x) { return Add(Op::linear, {x, Parameter({kWidth, kWidth}), Parameter({kWidth})}); }
  Fusion Of(const std::vector<ValueRef>& outputs) {
    graph_ = std::move(b_).Build(outputs);
    return Fusion(graph_, graph::ComputeLayout(graph_, channels_last_), MemoryOf(graph_));
  }

  graph::GraphBuilder b_;
  ValueRef x_ = b_.AddInput("x", {{kRows, kWidth}, graph::DType::float32});
  graph::Graph graph_;
  bool channels_last_ = false;
};

TEST_F(FusionTest, CallsOfEachElementAreOneKernel) {
  const Fusion fusion = Of({Add(Op::sigmoid, {Add(Op::relu, {x_})})});
  EXPECT_TRUE(fusion.Launches(0) && fusion.Reads(0, 0));
  EXPECT_FALSE(fusion.Writes(0) || fusion.Launches(1) || fusion.Reads(1, 0));
  EXPECT_TRUE(fusion.Writes(1));
}

// Its kernel is a library's, which reads and writes memory.
TEST_F(FusionTest, AProductIsAKernelOfItsOwn) {
  const Fusion fusion = Of({Add(Op::relu, {Linear(Add(Op::relu, {x_}))})});
  for (int32_t call = 0; call < 3; ++call) {
    EXPECT_TRUE(fusion.Launches(call)) << call;
    EXPECT_TRUE(fusion.Reads(call, 0)) << call;
    EXPECT_TRUE(fusion.Writes(call)) << call;
  }
}

TEST_F(FusionTest, ASoftmaxTakesInWhatIsBeforeAndAfterIt) {
  const ValueRef softmax = Add(Op::softmax, {Add(Op::relu, {x_})}, {{"dim", int64_t{1}}});
  const Fusion fusion = Of({Add(Op::mul, {softmax, x_})});
  EXPECT_TRUE(fusion.Launches(0));
  EXPECT_FALSE(fusion.Launches(1) || fusion.Launches(2) || fusion.Writes(0) || fusion.Writes(1));
  EXPECT_TRUE(fusion.Reads(2, 1));
}

TEST_F(FusionTest, TwoReductionsAreTwoKernels) {
  const ValueRef softmax = Add(Op::softmax, {x_}, {{"dim", int64_t{1}}});
  const Fusion fusion = Of({Add(Op::softmax, {softmax}, {{"dim", int64_t{0}}})});
  EXPECT_TRUE(fusion.Writes(0) && fusion.Launches(1) && fusion.Reads(1, 0));
}

// A product lies between: what adds to its result waits for it, and reads the other operand from
// memory.
TEST_F(FusionTest, AShortcutIsWrittenAndReadAgain) {
  const ValueRef relu = Add(Op::relu, {x_});
  const Fusion fusion = Of({Add(Op::add, {Linear(relu), relu})});
  EXPECT_TRUE(fusion.Writes(0));
  EXPECT_TRUE(fusion.Launches(2) && fusion.Reads(2, 0) && fusion.Reads(2, 1));
}

// The sum over rows has to end before its result is there; the sigmoid takes no memory for that.
TEST_F(FusionTest, WhatReadsLittleIsComputedTwice) {
  const ValueRef sigmoid = Add(Op::sigmoid, {x_});
  const ValueRef sum = Add(Op::sum, {sigmoid}, {{"dim", std::vector<int64_t>{0}}, {"keepdim", true}});
  const ValueRef all = Add(Op::sum, {sum}, {{"dim", std::vector<int64_t>{1}}, {"keepdim", true}});
  const Fusion fusion = Of({Add(Op::mul, {sigmoid, all})});
  EXPECT_FALSE(fusion.Writes(0));
  EXPECT_TRUE(fusion.Launches(0) && fusion.Launches(2) && fusion.Launches(3));
  EXPECT_FALSE(fusion.Launches(1));
  EXPECT_TRUE(fusion.Reads(3, 0));
}

// It could be computed before the product, but is so with what comes after it.
TEST_F(FusionTest, WhatOneCallReadsIsComputedThere) {
  const ValueRef relu = Add(Op::relu, {x_}), product = Linear(x_);
  const Fusion fusion = Of({Add(Op::mul, {product, relu})});
  EXPECT_FALSE(fusion.Writes(0) || fusion.Reads(2, 1));
  EXPECT_TRUE(fusion.Launches(0) && fusion.Writes(2));
  EXPECT_FALSE(fusion.Launches(2));
}

TEST_F(FusionTest, TwoBranchesOfOneSumAreOneKernel) {
  const ValueRef left = Add(Op::relu, {Linear(x_)}), right = Add(Op::sigmoid, {Linear(x_)});
  const Fusion fusion = Of({Add(Op::add, {left, right})});
  EXPECT_TRUE(fusion.Launches(1));
  EXPECT_FALSE(fusion.Launches(3) || fusion.Launches(4));
}

TEST_F(FusionTest, APoolReadsItsImageFromMemory) {
  const ValueRef image = b_.AddInput("image", {{1, 4, 8, 8}, graph::DType::float32});
  const std::vector<int64_t> two{2, 2}, none{0, 0}, one{1, 1};
  const ValueRef pool = Add(Op::max_pool2d, {Add(Op::relu, {image})},
                            {{"kernel_size", two}, {"stride", two}, {"padding", none}, {"dilation", one}});
  const Fusion fusion = Of({Add(Op::relu, {pool})});
  EXPECT_TRUE(fusion.Writes(0) && fusion.Launches(1) && fusion.Reads(1, 0));
  EXPECT_FALSE(fusion.Launches(2) || fusion.Writes(1));
}

// Sums over other dimensions are another kernel, however short the way between them.
TEST_F(FusionTest, WhatLiesBetweenTwoReductionsIsWritten) {
  const ValueRef softmax = Add(Op::softmax, {x_}, {{"dim", int64_t{1}}});
  const Fusion fusion = Of({Add(Op::softmax, {Add(Op::exp, {softmax})}, {{"dim", int64_t{0}}})});
  EXPECT_TRUE(fusion.Launches(0) && fusion.Launches(2));
  EXPECT_TRUE(fusion.Writes(0) || fusion.Writes(1));
  EXPECT_TRUE(fusion.Reads(2, 0));
}

TEST_F(FusionTest, TwoReductionsOfTheSameRowsAreOneKernel) {
  const ValueRef softmax = Add(Op::softmax, {x_}, {{"dim", int64_t{1}}});
  const Fusion fusion = Of({Add(Op::softmax, {softmax}, {{"dim", int64_t{1}}})});
  EXPECT_FALSE(fusion.Launches(1) || fusion.Writes(0) || fusion.Reads(1, 0));
}

// TorchInductor copies each tensor into its slice.
TEST_F(FusionTest, OfManyTensorsACatIsWritten) {
  for (const size_t tensors : {8u, 9u}) {
    b_ = graph::GraphBuilder();
    x_ = b_.AddInput("x", {{kRows, kWidth}, graph::DType::float32});
    const ValueRef cat = Add(Op::cat, ValueRefs(tensors, x_), {{"dim", int64_t{1}}});
    const Fusion fusion = Of({Add(Op::relu, {cat})});
    EXPECT_EQ(fusion.Writes(0), tensors > 8) << tensors;
  }
}

class FusionOfImagesTest : public FusionTest {
 protected:
  ValueRef Conv(ValueRef x) {
    const std::vector<int64_t> one{1, 1}, none{0, 0};
    return Add(Op::conv2d,
               {x, b_.AddParameter("w", {{4, 4, 1, 1}, graph::DType::float32}),
                b_.AddParameter("b", {{4}, graph::DType::float32})},
               {{"stride", one}, {"padding", none}, {"dilation", one}, {"groups", int64_t{1}}});
  }
  ValueRef BatchNorm(ValueRef x) {
    const auto of_channels = [this](bool is_buffer) {
      const graph::TensorType type{{4}, graph::DType::float32};
      return is_buffer ? b_.AddBuffer("b", type) : b_.AddParameter("p", type);
    };
    return Add(Op::batch_norm, {x, of_channels(true), of_channels(true), of_channels(false), of_channels(false)},
               {{"eps", 1e-5}, {"training", false}});
  }
  ValueRef Mean(ValueRef x) { return Add(Op::mean, {x}, {{"dim", std::vector<int64_t>{2, 3}}, {"keepdim", true}}); }
  ValueRef image_ = b_.AddInput("image", {{2, 4, 8, 8}, graph::DType::float32});
};

TEST_F(FusionOfImagesTest, ABiasIsAddedByWhatReadsIt) { EXPECT_FALSE(Of({Add(Op::relu, {Conv(image_)})}).AddsBias(0)); }

TEST_F(FusionOfImagesTest, ForALibraryABiasIsAKernel) {
  const Fusion fusion = Of({Conv(Conv(image_))});
  EXPECT_TRUE(fusion.AddsBias(0) && fusion.AddsBias(1));
}

// Squeeze and excite. With the channels last, a sum of pixels goes through memory otherwise than
// what comes before it.
TEST_F(FusionOfImagesTest, AMeanOfPixelsIsAKernelOfItsOwnIfChannelsAreLast) {
  for (const bool channels_last : {false, true}) {
    b_ = graph::GraphBuilder();
    channels_last_ = channels_last;
    image_ = b_.AddInput("image", {{2, 4, 8, 8}, graph::DType::float32});
    const ValueRef silu = Add(Op::silu, {BatchNorm(Conv(image_))});
    const ValueRef mean = Mean(silu);
    const Fusion fusion = Of({Add(Op::mul, {silu, Conv(mean)})});
    EXPECT_EQ(fusion.Launches(3), channels_last);
    EXPECT_EQ(fusion.Reads(3, 0), channels_last);
    // It is read after the product, too: the SiLU is computed again.
    EXPECT_TRUE(fusion.Writes(1) || fusion.Writes(2));
  }
}

TEST_F(FusionOfImagesTest, TheNearestPixelIsTakenWhereItIsRead) {
  const ValueRef larger =
      Add(Op::interpolate, {Add(Op::relu, {image_})}, {{"size", std::vector<int64_t>{16, 16}}, {"mode", "nearest"}});
  const Fusion fusion = Of({Add(Op::relu, {larger})});
  EXPECT_FALSE(fusion.Writes(0) || fusion.Writes(1));
}

TEST_F(FusionTest, AViewIsNoKernelAndHidesNone) {
  const ValueRef view = Add(Op::transpose, {Add(Op::relu, {x_})}, {{"dim0", int64_t{0}}, {"dim1", int64_t{1}}});
  const Fusion fusion = Of({Add(Op::sigmoid, {view})});
  EXPECT_FALSE(fusion.Launches(1) || fusion.Writes(0) || fusion.Launches(2));
}

TEST_F(FusionTest, AResultOfTheNetworkIsWritten) {
  const ValueRef relu = Add(Op::relu, {x_}), sigmoid = Add(Op::sigmoid, {relu});
  EXPECT_TRUE(Of({relu, sigmoid}).Writes(0));
}

}  // namespace
}  // namespace cobra::predict
