#include "model/predict/fusion.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "graph/builder.h"

namespace cobra::predict {
namespace {

using graph::Op;
using graph::ValueRef;

constexpr int64_t kRows = 64, kWidth = 32;

class FusionTest : public testing::Test {
 protected:
  ValueRef Parameter(graph::Shape shape) { return b_.AddParameter("w", {std::move(shape), graph::DType::float32}); }
  ValueRef Add(Op op, const std::vector<ValueRef>& inputs, const graph::Attributes& attributes = {}) {
    const auto call = b_.Add(op, attributes, inputs);
    EXPECT_TRUE(call.ok()) << call.status();
    return ValueRef::Node(*call);
  }
  ValueRef Linear(ValueRef x) { return Add(Op::linear, {x, Parameter({kWidth, kWidth}), Parameter({kWidth})}); }
  Fusion Of(const std::vector<ValueRef>& outputs) {
    graph_ = std::move(b_).Build(outputs);
    return Fusion(graph_, MemoryOf(graph_));
  }

  graph::GraphBuilder b_;
  ValueRef x_ = b_.AddInput("x", {{kRows, kWidth}, graph::DType::float32});
  graph::Graph graph_;
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

// A product lies between: what adds to its result waits for it, and reads the other operand from memory.
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
