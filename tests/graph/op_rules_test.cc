// What is decided for every operator: each has its row, and a rule that serves a family knows all
// of its operators.
#include "graph/op_rules.h"

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/builder/builder.h"
#include "graph/constants/const_rules.h"
#include "graph/op_table.h"
#include "gtest/gtest.h"

namespace cobra::graph {
namespace {

using Ints = std::vector<int64_t>;

// ---- tables

struct Row {
  Op op;
};

constexpr Row kFirstThree[] = {{Op::conv1d}, {Op::conv2d}, {Op::conv3d}};
constexpr Row kSecondMissing[] = {{Op::conv1d}, {Op::conv3d}, {Op::conv_transpose1d}};
constexpr Row kSecondTwice[] = {{Op::conv1d}, {Op::conv2d}, {Op::conv2d}};

struct CompleteTable {
  Row rows[kNumOps + 1] = {};
  constexpr CompleteTable() {
    for (int i = 0; i <= kNumOps; ++i) rows[i].op = static_cast<Op>(i < kNumOps ? i : 0);
  }
};
constexpr CompleteTable kOneTooMany;

TEST(OpTableTest, NamesTheOperatorThatHasNoRow) {
  static_assert(FirstWithoutRow(kFirstThree) == Op::conv_transpose1d);
  static_assert(FirstWithoutRow(kSecondMissing) == Op::conv2d);
  static_assert(FirstWithoutRow(kSecondTwice) == Op::conv3d);
  static_assert(FirstWithoutRow(kOneTooMany.rows) == Op::conv1d);
  static_assert(FirstWithoutRow(kOpRules) == kNoOp);
}

constexpr bool IsBeforeConv3d(Op op) { return op < Op::conv3d; }
constexpr bool IsAnything(Op) { return true; }

TEST(OpTableTest, NamesTheFirstOperatorThatFails) {
  static_assert(FirstOpThatFails(IsBeforeConv3d) == Op::conv3d);
  static_assert(FirstOpThatFails(IsAnything) == kNoOp);
}

// ---- ops.def

struct Declared {
  Op op;
  absl::string_view inputs, attributes;
};
constexpr Declared kDeclared[] = {
#define COBRA_OP(name, cost_class, inputs, attributes, shape, work) {Op::name, inputs, attributes},
#include "graph/ops.def"
#undef COBRA_OP
};

TEST(OpsDefTest, EveryMarkIsKnown) {
  for (const Declared& declared : kDeclared) {
    const OpInfo& info = GetOpInfo(declared.op);
    int selecting = 0;
    for (const OpInputSpec& input : info.inputs) {
      selecting += input.selects != Selects::kNothing;
      EXPECT_EQ(input.name.find_first_of("?*#"), absl::string_view::npos) << info.name << " " << input.name;
    }
    EXPECT_EQ(selecting, std::count(declared.inputs.begin(), declared.inputs.end(), '#')) << info.name;
    for (const OpAttributeSpec& attribute : info.attributes) {
      EXPECT_EQ(attribute.name.find_first_of("~-+&="), absl::string_view::npos) << info.name << " " << attribute.name;
      if (attribute.use == AttributeUse::kBeside)
        EXPECT_NE(info.FindAttribute(attribute.other), nullptr) << info.name << " " << attribute.name;
    }
  }
}

TEST(OpsDefTest, TensorsNamedAfterIndicesSelect) {
  for (const OpInfo& info : AllOps()) {
    for (const OpInputSpec& input : info.inputs) {
      if (input.name == "index" || input.name == "indices")
        EXPECT_NE(input.selects, Selects::kNothing) << info.name << " " << input.name;
    }
  }
}

// ---- rules that serve several operators

struct Example {
  std::vector<TensorType> inputs;
  Attributes attributes;
};

TensorType Floats(Shape shape) { return {std::move(shape), DType::float32}; }
TensorType Integers(Shape shape) { return {std::move(shape), DType::int64}; }

// Whatever it is called with, a shape rule knows the operator: Internal is the default of a switch.
TEST(ShapeRulesTest, EveryOperatorIsKnownToItsRule) {
  for (const OpInfo& info : AllOps()) {
    for (int rank = 0; rank <= 5; ++rank) {
      for (DType dtype : {DType::float32, DType::int64, DType::complex64}) {
        const TensorType type{Shape(rank, 4), dtype};
        const size_t given = info.inputs.empty() ? 0 : std::max<size_t>(info.inputs.size(), info.min_inputs);
        const std::vector<const TensorType*> inputs(given, &type);
        const auto outputs = InferTypes(info.op, {}, inputs);
        EXPECT_FALSE(absl::IsInternal(outputs.status())) << outputs.status();
      }
    }
  }
}

// A call of each operator whose values are computed. Where nothing is given: one tensor of floats
// for each input that must be there.
// Long because it is a list of calls.
std::map<Op, Example> Examples() {
  std::map<Op, Example> examples;
  const TensorType matrix = Floats({2, 3}), square = Floats({3, 3}), vector = Floats({3}), row = Integers({2, 3});
  for (const OpInfo& info : AllOps()) {
    const const_rules::ConstRule rule = const_rules::ConstRulesOf(info.op).real;
    if (rule == const_rules::None) continue;
    Example& example = examples[info.op];
    example.inputs.assign(std::max(info.min_inputs, 1), matrix);
    if (rule == const_rules::Binary) example.inputs.assign(2, matrix);
    if (absl::StartsWith(info.name, "bitwise")) example.inputs.assign(example.inputs.size(), row);
  }
  const auto with = [&](Op op, Attributes attributes) { examples.at(op).attributes = std::move(attributes); };
  const auto of = [&](Op op, std::vector<TensorType> inputs, Attributes attributes = {}) {
    examples.at(op) = {std::move(inputs), std::move(attributes)};
  };
  const Attributes dim0 = {{"dim", int64_t{0}}};
  for (Op op : {Op::dot, Op::vdot, Op::outer, Op::ger, Op::cartesian_prod}) of(op, {vector, vector});
  for (Op op : {Op::matmul, Op::mm, Op::linear}) of(op, {square, square});
  of(Op::mv, {square, vector});
  of(Op::bmm, {Floats({2, 3, 3}), Floats({2, 3, 3})});
  of(Op::einsum, {square, square}, {{"equation", std::string("ij,jk->ik")}});
  for (Op op : {Op::chunk, Op::tensor_split, Op::hsplit, Op::vsplit, Op::dsplit})
    of(op, {Floats({4, 4, 4})}, {{op == Op::chunk ? "chunks" : "sections", int64_t{2}}});
  for (Op op : {Op::split, Op::split_with_sizes}) of(op, {Floats({4})}, {{"split_size", Ints{2, 2}}});
  with(Op::narrow, {{"dim", int64_t{0}}, {"start", int64_t{0}}, {"length", int64_t{1}}});
  with(Op::select, {{"dim", int64_t{0}}, {"index", int64_t{1}}});
  for (Op op : {Op::to, Op::type}) with(op, {{"dtype", std::string("float64")}});
  for (Op op : {Op::type_as, Op::copy, Op::view_as, Op::reshape_as, Op::expand_as, Op::kron, Op::cdist})
    of(op, {matrix, matrix});
  for (Op op :
       {Op::hstack, Op::vstack, Op::row_stack, Op::dstack, Op::column_stack, Op::cat, Op::stack, Op::block_diag})
    of(op, {matrix, matrix});
  of(Op::meshgrid, {vector, vector});
  with(Op::view, {{"size", Ints{6}}});
  with(Op::reshape, {{"shape", Ints{6}}});
  with(Op::unflatten, {{"dim", int64_t{0}}, {"sizes", Ints{1, 2}}});
  with(Op::unsqueeze, dim0);
  with(Op::permute, {{"dims", Ints{1, 0}}});
  with(Op::transpose, {{"dim0", int64_t{0}}, {"dim1", int64_t{1}}});
  with(Op::movedim, {{"source", Ints{0}}, {"destination", Ints{1}}});
  for (Op op : {Op::expand, Op::broadcast_to}) with(op, {{"size", Ints{2, 2, 3}}});
  with(Op::diagonal, {{"offset", int64_t{1}}});
  with(Op::flip, {{"dims", Ints{0}}});
  with(Op::roll, {{"shifts", Ints{1}}, {"dims", Ints{0}}});
  with(Op::repeat, {{"repeats", Ints{2, 2}}});
  with(Op::tile, {{"dims", Ints{2}}});
  with(Op::repeat_interleave, {{"repeats", int64_t{2}}});
  with(Op::tensor_unfold, {{"dimension", int64_t{1}}, {"size", int64_t{2}}, {"step", int64_t{1}}});
  with(Op::rot90, {{"k", int64_t{1}}, {"dims", Ints{0, 1}}});
  with(Op::pad, {{"pad", Ints{1, 1}}});
  for (Op op : {Op::gather, Op::take_along_dim}) of(op, {matrix, Integers({2, 3})}, dim0);
  of(Op::index_select, {matrix, Integers({2})}, dim0);
  for (Op op : {Op::cumsum, Op::cumprod, Op::cummax, Op::cummin, Op::softmax, Op::log_softmax}) with(op, dim0);
  with(Op::logsumexp, {{"dim", Ints{0}}});
  with(Op::getitem, {{"index", std::string("0")}});
  with(Op::setitem, {{"index", std::string("0")}, {"value", 1.0}});
  with(Op::topk, {{"k", int64_t{1}}, {"dim", int64_t{-1}}});
  with(Op::kthvalue, {{"k", int64_t{1}}, {"dim", int64_t{-1}}});
  of(Op::searchsorted, {vector, matrix});
  of(Op::bucketize, {matrix, vector});
  for (Op op : {Op::scatter, Op::scatter_add, Op::scatter_reduce}) of(op, {matrix, Integers({2, 3}), matrix}, dim0);
  examples.at(Op::scatter_reduce).attributes = {{"dim", int64_t{0}}, {"reduce", std::string("sum")}};
  for (Op op : {Op::index_add, Op::index_copy}) of(op, {matrix, Integers({1}), Floats({1, 3})}, dim0);
  of(Op::index_fill, {matrix, Integers({1})}, {{"dim", int64_t{0}}, {"value", 1.0}});
  of(Op::one_hot, {Integers({2})}, {{"num_classes", int64_t{3}}});
  of(Op::embedding, {Integers({2}), matrix});
  of(Op::combinations, {vector});
  of(Op::where, {{{2, 3}, DType::bool_}, matrix, matrix});
  of(Op::masked_fill, {matrix, {{2, 3}, DType::bool_}}, {{"value", 1.0}});
  with(Op::lerp, {{"weight", 0.5}});
  with(Op::clamp, {{"min", 0.0}});
  with(Op::clamp_min, {{"min", 0.0}});
  with(Op::clamp_max, {{"max", 0.0}});
  with(Op::fill, {{"value", 1.0}});
  return examples;
}

TEST(ConstRulesTest, EveryOperatorIsComputedByItsRule) {
  for (const auto& [op, example] : Examples()) {
    std::vector<const TensorType*> types;
    std::vector<std::vector<double>> values;
    std::vector<ConstInput> inputs;
    for (const TensorType& type : example.inputs) {
      types.push_back(&type);
      values.emplace_back(type.num_elements(), type.dtype == DType::float32 ? 0.5 : 0.0);
    }
    for (size_t i = 0; i < types.size(); ++i) inputs.push_back({types[i], &values[i]});
    const auto outputs = InferTypes(op, example.attributes, types);
    ASSERT_TRUE(outputs.ok()) << OpName(op) << ": " << outputs.status();
    EXPECT_NE(EvalConst(op, example.attributes, inputs, *outputs)[0], nullptr) << OpName(op);
  }
}

}  // namespace
}  // namespace cobra::graph
