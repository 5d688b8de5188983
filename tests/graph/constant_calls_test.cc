#include "graph/constants/constant_calls.h"

#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "graph/builder/builder.h"
#include "graph/cost/cost.h"
#include "gtest/gtest.h"

namespace cobra::graph {
namespace {

using ::testing::ElementsAre;

using Values = std::vector<double>;

ValueRef Added(GraphBuilder* builder, Op op, Attributes attributes, ValueRefs inputs, bool inplace = false) {
  const auto node = builder->Add(op, std::move(attributes), std::move(inputs), {}, inplace);
  EXPECT_TRUE(node.ok()) << node.status();
  return ValueRef::Node(node.value_or(0));
}

ValueRef Created(GraphBuilder* builder, Op op, std::vector<int64_t> size) {
  return Added(builder, op, {{"size", std::move(size)}, {"dtype", std::string("float32")}}, {});
}

// x @ (weight.to(float32) * scale).T + noise + mask, of which the weight, its scale and the mask
// depend on no input.
Graph Network() {
  GraphBuilder b;
  const ValueRef x = b.AddInput("x", {{1, 4}, DType::float32});
  const ValueRef scale = b.AddParameter("scale", {{3, 1}, DType::float32});
  const ValueRef weight = b.AddBuffer("weight", {{3, 4}, DType::int8});
  const ValueRef unpacked = Added(&b, Op::to, {{"dtype", std::string("float32")}}, {weight});  // 0
  const ValueRef scaled = Added(&b, Op::mul, {}, {unpacked, scale});                           // 1
  const ValueRef y = Added(&b, Op::linear, {}, {x, scaled});                                   // 2
  const ValueRef noise = Created(&b, Op::randn, {1, 3});                                       // 3
  const ValueRef mask = Created(&b, Op::zeros, {1, 3});                                        // 4
  const ValueRef half = Added(&b, Op::mul, {{"other", 0.5}}, {noise});                         // 5
  b.SetKnownValues(mask, std::make_shared<const Values>(Values{0, 0, 0}));
  const ValueRef sum = Added(&b, Op::add, {}, {y, half});    // 6
  const ValueRef out = Added(&b, Op::add, {}, {sum, mask});  // 7
  return std::move(b).Build({out, mask});
}

TEST(ConstantCalls, DependOnNoInputAndDrawNothing) {
  EXPECT_THAT(ConstantCalls(Network(), /*of_parameters=*/false),
              ElementsAre(true, false, false, false, true, false, false, false));
  EXPECT_THAT(ConstantCalls(Network(), /*of_parameters=*/true),
              ElementsAre(true, true, false, false, true, false, false, false));
}

TEST(ConstantCalls, MayAskForTheTypeOfAnInput) {
  GraphBuilder b;
  const ValueRef x = b.AddInput("x", {{3, 4}, DType::float32});
  const ValueRef table = b.AddBuffer("table", {{4}, DType::float32});
  const ValueRef steps = Created(&b, Op::zeros, {4});                   // 0
  const ValueRef cast = Added(&b, Op::type_as, {}, {steps, x});         // 1
  const ValueRef moved = Added(&b, Op::to, {}, {table, x});             // 2
  const ValueRef rows = Added(&b, Op::expand_as, {}, {moved, x});       // 3
  const ValueRef twice = Added(&b, Op::mul, {{"other", 2.0}}, {rows});  // 4
  const ValueRef computed = Added(&b, Op::type_as, {}, {x, table});     // 5
  const ValueRef same = Added(&b, Op::reshape_as, {}, {x, twice});      // 6
  const ValueRef product = Added(&b, Op::mul, {}, {table, x});          // 7
  const Graph graph = std::move(b).Build({cast, twice, computed, same, product});
  EXPECT_THAT(ConstantCalls(graph, false), ElementsAre(true, true, true, true, true, false, false, false));
}

TEST(ConstantCalls, AreConstantsOfAPreparedNetwork) {
  const auto prepared = WithoutConstantCalls(Network(), /*of_parameters=*/true);
  ASSERT_TRUE(prepared.has_value());
  constexpr int32_t kGone = WithoutCalls::kGone;
  EXPECT_THAT(prepared->place_of_call, ElementsAre(kGone, kGone, 0, 1, kGone, 2, 3, 4));
  ASSERT_EQ(prepared->graph.constants().size(), 2u);
  EXPECT_EQ(prepared->graph.constants()[0].name, "mul.1");
  EXPECT_EQ(prepared->graph.constants()[1].name, "zeros.4");
  EXPECT_EQ(prepared->graph.nodes()[0].inputs[1], ValueRef::Constant(0));
  EXPECT_EQ(prepared->graph.outputs()[1], ValueRef::Constant(1));
  ASSERT_NE(prepared->graph.KnownValues(ValueRef::Constant(1)), nullptr);
  EXPECT_THAT(*prepared->graph.KnownValues(ValueRef::Constant(1)), ElementsAre(0, 0, 0));
  EXPECT_EQ(prepared->graph.KnownValues(ValueRef::Constant(0)), nullptr);
  EXPECT_FALSE(WithoutConstantCalls(prepared->graph, /*of_parameters=*/true).has_value());
}

TEST(ConstantCalls, StayIfThereAreNoOthers) {
  GraphBuilder b;
  const ValueRef table = Created(&b, Op::zeros, {4, 4});
  EXPECT_FALSE(WithoutConstantCalls(std::move(b).Build({table}), /*of_parameters=*/true).has_value());
}

TEST(ConstantCalls, AWriteOfAnInputEndsThem) {
  GraphBuilder b;
  const ValueRef x = b.AddInput("x", {{1, 4}, DType::float32});
  const ValueRef table = Created(&b, Op::empty, {2, 4});                                                // 0
  const ValueRef filled = Added(&b, Op::fill, {{"value", 1.0}}, {table, ValueRef::None()}, true);       // 1
  const ValueRef written = Added(&b, Op::setitem, {{"index", std::string("0:1")}}, {filled, x}, true);  // 2
  const ValueRef sum = Added(&b, Op::sum, {}, {written});                                               // 3
  EXPECT_THAT(ConstantCalls(std::move(b).Build({sum}), false), ElementsAre(true, true, false, false));
}

TEST(Creation, WritesItsResultUnlessThatIsUnset) {
  GraphBuilder b;
  (void)Created(&b, Op::zeros, {2, 3});
  (void)Created(&b, Op::empty, {2, 3});
  const ValueRef x = b.AddInput("x", {{1}, DType::float32});
  (void)Added(&b, Op::new_, {{"size", std::vector<int64_t>{2, 3}}}, {x});
  const Graph graph = std::move(b).Build({});
  EXPECT_EQ(CostOf(graph, 0).output_bytes, 24);
  EXPECT_EQ(CostOf(graph, 1).output_bytes, 0);
  EXPECT_EQ(CostOf(graph, 2).output_bytes, 0);
}

TEST(Creation, OfASizeOrATypeThatIsNoneIsRefused) {
  GraphBuilder b;
  const auto negative = b.Add(Op::zeros, {{"size", std::vector<int64_t>{-1}}, {"dtype", std::string("float32")}}, {});
  EXPECT_EQ(negative.status().message(), "Trying to create tensor with negative dimension -1");
  const auto unknown = b.Add(Op::zeros, {{"size", std::vector<int64_t>{1}}, {"dtype", std::string("float8")}}, {});
  EXPECT_EQ(unknown.status().message(), "float8: is not a type of tensors");
}

}  // namespace
}  // namespace cobra::graph
