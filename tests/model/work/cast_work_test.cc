#include "model/predict/work/cast_work.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "graph/builder/builder.h"

namespace cobra::predict {
namespace {

using graph::Op;
using graph::ValueRef;
using graph::ValueRefs;

constexpr int64_t kRows = 64, kWidth = 32, kBytes = kRows * kWidth * 4;
constexpr int64_t kWeights = kWidth * kWidth * 4, kBias = kWidth * 4;

class CastWorkTest : public testing::Test {
 protected:
  ValueRef Parameter(graph::Shape shape) { return b_.AddParameter("w", {std::move(shape), graph::DType::float32}); }
  // Returns the result of a call.
  ValueRef Add(Op op, const graph::Attributes& attributes, const ValueRefs& inputs) {
    const auto call = b_.Add(op, attributes, inputs);
    EXPECT_TRUE(call.ok()) << call.status();
    return ValueRef::Node(*call);
  }
  ValueRef Linear(ValueRef x) { return Add(Op::linear, {}, {x, Parameter({kWidth, kWidth}), Parameter({kWidth})}); }
  ValueRef LayerNorm(ValueRef x) {
    return Add(Op::layer_norm, {{"normalized_shape", std::vector<int64_t>{kWidth}}, {"eps", 1e-5}},
               {x, Parameter({kWidth}), Parameter({kWidth})});
  }
  std::vector<CastWork> WorkOf(ValueRef last) {
    graph_ = std::move(b_).Build({last});
    return CastWorkOf(graph_);
  }

  graph::GraphBuilder b_;
  ValueRef x_ = b_.AddInput("x", {{kRows, kWidth}, graph::DType::float32});
  graph::Graph graph_;
};

// A product takes its input and its parameters to half precision, and what follows stays there.
TEST_F(CastWorkTest, AProductComputesInHalf) {
  const auto work = WorkOf(Add(Op::relu, {}, {Linear(x_)}));
  EXPECT_EQ(work[0].casts, 3);
  EXPECT_EQ(work[0].cast_bytes, (kBytes + kWeights + kBias) * 3 / 2);
  EXPECT_EQ(work[0].wide_bytes, 0);
  EXPECT_EQ(work[1].casts, 0);
  EXPECT_EQ(work[1].wide_bytes, 0);
}

// A norm of half precision is cast to float32, and its result makes the sum, and the next norm, as
// wide.
TEST_F(CastWorkTest, ANormComputesInFloat32) {
  const ValueRef product = Linear(x_), norm = LayerNorm(product), sum = Add(Op::add, {}, {product, norm});
  const auto work = WorkOf(LayerNorm(sum));
  EXPECT_EQ(work[1].casts, 1);
  EXPECT_EQ(work[1].cast_bytes, kBytes * 3 / 2);
  EXPECT_EQ(work[1].wide_bytes, 2 * kBytes + 2 * kBias);
  EXPECT_EQ(work[2].casts, 0);  // a kernel reads both types
  EXPECT_EQ(work[2].wide_bytes, 2 * kBytes);
  EXPECT_EQ(work[3].casts, 0);
  EXPECT_EQ(work[3].wide_bytes, 2 * kBytes + 2 * kBias);
}

TEST_F(CastWorkTest, ASoftmaxReadsHalfAndWritesFloat32) {
  const auto work = WorkOf(Add(Op::softmax, {{"dim", int64_t{1}}}, {Linear(x_)}));
  EXPECT_EQ(work[1].casts, 0);
  EXPECT_EQ(work[1].wide_bytes, kBytes);
}

// A batch norm's parameters are float32, and do not make its result wide.
TEST_F(CastWorkTest, ABatchNormStaysAsItsInput) {
  const ValueRef norm =
      Add(Op::batch_norm, {{"training", false}},
          {Linear(x_), Parameter({kWidth}), Parameter({kWidth}), Parameter({kWidth}), Parameter({kWidth})});
  const auto work = WorkOf(Add(Op::relu, {}, {norm}));
  EXPECT_EQ(work[1].casts, 0);
  EXPECT_EQ(work[2].wide_bytes, 0);
}

// A table stays in float32, and a call reads the rows that it asks.
TEST_F(CastWorkTest, ALookupMovesItsRows) {
  const ValueRef indices = b_.AddInput("i", {{4}, graph::DType::int64});
  const auto work = WorkOf(Add(Op::embedding, {}, {indices, Parameter({1000, kWidth})}));
  EXPECT_EQ(work[0].casts, 0);
  EXPECT_EQ(work[0].wide_bytes, 2 * 4 * kWidth * 4);
}

TEST_F(CastWorkTest, AViewKeepsTheTypeAndMovesNothing) {
  const ValueRef view = Add(Op::transpose, {{"dim0", int64_t{0}}, {"dim1", int64_t{1}}}, {Linear(x_)});
  const auto work = WorkOf(Add(Op::relu, {}, {view}));
  EXPECT_EQ(work[1].casts + work[1].wide_bytes, 0);
  EXPECT_EQ(work[2].wide_bytes, 0);
}

}  // namespace
}  // namespace cobra::predict
