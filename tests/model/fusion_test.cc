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

// One of its readers is another kernel.
TEST_F(FusionTest, WhatALibraryReadsIsWritten) {
  const ValueRef relu = Add(Op::relu, {x_});
  const Fusion fusion = Of({Add(Op::add, {Linear(relu), relu})});
  EXPECT_TRUE(fusion.Writes(0));
  EXPECT_FALSE(fusion.Reads(2, 1));
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
