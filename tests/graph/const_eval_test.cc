#include "graph/constants/const_eval.h"

#include "gmock/gmock.h"
#include "graph/builder/builder.h"

namespace cobra::graph {
namespace {

using ::testing::ElementsAre;
using Ints = std::vector<int64_t>;

struct Operand {
  TensorType type;
  std::vector<double> values;
};

std::vector<double> Eval(Op op, const Attributes& attributes, const std::vector<Operand>& operands) {
  std::vector<const TensorType*> types;
  std::vector<ConstInput> inputs;
  for (const Operand& operand : operands) {
    types.push_back(&operand.type);
    inputs.push_back({&operand.type, &operand.values});
  }
  const auto outputs = InferTypes(op, attributes, types);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  const auto values = EvalConst(op, attributes, inputs, *outputs);
  EXPECT_NE(values[0], nullptr);
  return values[0] == nullptr ? std::vector<double>() : *values[0];
}

Operand Range(Shape shape, DType dtype = DType::int64) {
  Operand operand{{shape, dtype}, {}};
  for (int64_t i = 0; i < operand.type.num_elements(); ++i) operand.values.push_back(static_cast<double>(i));
  return operand;
}

bool IsEvaluated(const std::string& equation, const std::vector<Operand>& operands) {
  std::vector<ConstInput> inputs;
  std::vector<const TensorType*> types;
  for (const Operand& operand : operands) {
    inputs.push_back({&operand.type, &operand.values});
    types.push_back(&operand.type);
  }
  const Attributes attributes{{"equation", equation}};
  return EvalConst(Op::einsum, attributes, inputs, InferTypes(Op::einsum, attributes, types).value())[0] != nullptr;
}

// All letters are walked at once: not where the steps that PyTorch takes, and that are paid for,
// are far fewer.
TEST(ConstEvalTest, EinsumIsEvaluatedWhereThatIsLittleWork) {
  EXPECT_TRUE(IsEvaluated("ij,jk->ik", {Range({50, 50}), Range({50, 50})}));
  EXPECT_TRUE(IsEvaluated("a,b->", {Range({40}), Range({40})}));
  EXPECT_FALSE(IsEvaluated("a,b->", {Range({400}), Range({400})}));
  // 16 to the 16th is 0 in 64 bits.
  EXPECT_FALSE(IsEvaluated("a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p->", std::vector<Operand>(16, Range({16}, DType::float64))));
}

TEST(ConstEvalTest, BroadcastsAndKeepsFloat32Rounding) {
  EXPECT_THAT(Eval(Op::sub, {}, {Range({2, 1}), Range({3})}), ElementsAre(0, -1, -2, 1, 0, -1));
  EXPECT_THAT(Eval(Op::div, {{"other", int64_t{3}}}, {Range({2})}), ElementsAre(0, static_cast<double>(1.0f / 3)));
  EXPECT_THAT(Eval(Op::floor_divide, {{"other", int64_t{-2}}}, {Range({4})}), ElementsAre(0, -1, -1, -2));
}

TEST(ConstEvalTest, MovesElements) {
  EXPECT_THAT(Eval(Op::permute, {{"dims", Ints{1, 0}}}, {Range({2, 3})}), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(Eval(Op::flip, {{"dims", Ints{1}}}, {Range({2, 2})}), ElementsAre(1, 0, 3, 2));
  EXPECT_THAT(Eval(Op::roll, {{"shifts", Ints{1}}, {"dims", Ints{0}}}, {Range({3})}), ElementsAre(2, 0, 1));
  EXPECT_THAT(Eval(Op::cat, {{"dim", int64_t{1}}}, {Range({2, 1}), Range({2, 2})}), ElementsAre(0, 0, 1, 1, 2, 3));
  EXPECT_THAT(Eval(Op::repeat, {{"repeats", Ints{2}}}, {Range({2})}), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(Eval(Op::triu, {{"diagonal", int64_t{1}}}, {Range({2, 2})}), ElementsAre(0, 1, 0, 0));
}

TEST(ConstEvalTest, Indexes) {
  EXPECT_THAT(Eval(Op::getitem, {{"index", std::string(":, [0, 1], 1, [0, 1]")}}, {Range({2, 2, 2, 2})}),
              ElementsAre(2, 7, 10, 15));
  EXPECT_THAT(Eval(Op::getitem, {{"index", std::string("1:, ::2")}}, {Range({2, 4})}), ElementsAre(4, 6));
  EXPECT_THAT(Eval(Op::getitem, {{"index", std::string("T0, None")}}, {Range({4}), {{{2}, DType::int64}, {3, -4}}}),
              ElementsAre(3, 0));
  EXPECT_THAT(Eval(Op::setitem, {{"index", std::string("0")}, {"value", int64_t{9}}}, {Range({2, 2})}),
              ElementsAre(9, 9, 2, 3));
}

TEST(ConstEvalTest, ComplexNumbersAreTwo) {
  const Operand z = {{{2}, DType::complex64}, {1, 2, 3, -4}};
  EXPECT_THAT(Eval(Op::view_as_real, {}, {z}), ElementsAre(1, 2, 3, -4));
  EXPECT_THAT(Eval(Op::imag, {}, {z}), ElementsAre(2, -4));
  EXPECT_THAT(Eval(Op::abs, {}, {{{{1}, DType::complex64}, {3, 4}}}), ElementsAre(5));
  EXPECT_THAT(Eval(Op::mul, {}, {z, z}), ElementsAre(-3, 4, -7, -24));
  EXPECT_THAT(Eval(Op::add, {{"other", int64_t{1}}}, {z}), ElementsAre(2, 2, 4, -4));
  EXPECT_THAT(Eval(Op::flip, {{"dims", Ints{0}}}, {z}), ElementsAre(3, -4, 1, 2));
  EXPECT_THAT(Eval(Op::getitem, {{"index", std::string("T0")}}, {z, {{{1}, DType::int64}, {1}}}), ElementsAre(3, -4));
  EXPECT_THAT(Eval(Op::cat, {{"dim", int64_t{0}}}, {z, {{{1}, DType::int64}, {7}}}), ElementsAre(1, 2, 3, -4, 7, 0));
}

// A shape rule lets some calls pass that PyTorch refuses: their values are not known, and nothing
// is read beyond the inputs.
TEST(ConstEvalTest, ArgumentsThatDoNotFitHaveNoValues) {
  const auto is_unknown = [](Op op, const Attributes& attributes, const std::vector<Operand>& operands) {
    std::vector<const TensorType*> types;
    std::vector<ConstInput> inputs;
    for (const Operand& operand : operands) {
      types.push_back(&operand.type);
      inputs.push_back({&operand.type, &operand.values});
    }
    const auto outputs = InferTypes(op, attributes, types);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    return EvalConst(op, attributes, inputs, *outputs)[0] == nullptr;
  };
  const Operand nothing = Range({0});
  EXPECT_TRUE(is_unknown(Op::copy, {}, {Range({4}), Range({2})}));
  EXPECT_TRUE(is_unknown(Op::copy, {}, {Range({}), Range({3, 4})}));
  EXPECT_TRUE(is_unknown(Op::fill, {}, {Range({4}), nothing}));
  EXPECT_TRUE(is_unknown(Op::tensor_split, {{"indices", Ints{3, 0}}}, {Range({4})}));
  EXPECT_TRUE(is_unknown(Op::repeat_interleave, {{"output_size", int64_t{6}}}, {Range({3}), Range({3})}));
  EXPECT_TRUE(
      is_unknown(Op::pad, {{"pad", Ints{2, 0}}, {"mode", std::string("replicate")}}, {Range({2, 0}, DType::float32)}));
  EXPECT_TRUE(is_unknown(Op::scatter_reduce, {{"dim", int64_t{0}}, {"reduce", std::string("sum")}},
                         {Range({2}, DType::float32), Range({1}), Range({}, DType::float32)}));
}

TEST(ConstEvalTest, Reduces) {
  EXPECT_THAT(Eval(Op::sum, {{"dim", Ints{0}}}, {Range({2, 2})}), ElementsAre(2, 4));
  EXPECT_THAT(Eval(Op::max, {}, {Range({5})}), ElementsAre(4));
  EXPECT_THAT(Eval(Op::cumsum, {{"dim", int64_t{0}}}, {Range({4})}), ElementsAre(0, 1, 3, 6));
}

}  // namespace
}  // namespace cobra::graph
