// Operators that work element by element: arithmetic, comparisons, logic.
#include <cmath>
#include <limits>
#include <optional>

#include "base/status_macros.h"
#include "frontend/onnx/importer/elementwise.h"
#include "frontend/onnx/importer/registry.h"
#include "frontend/onnx/importer/tensor_data.h"

namespace cobra::onnx {
namespace {

template <graph::Op kOp>
absl::StatusOr<Outputs> Unary(NodeContext& c) {
  return c.Out(c.Unary(kOp, c.In(0)));
}

// In opset 6, `axis` is the dimension of the first operand at which the second operand's first
// dimension aligns.
absl::StatusOr<TensorPtr> SecondOperand(NodeContext& c) {
  TensorPtr b = c.In(1);
  if (c.opset() >= 7 || c.Int("broadcast") == 0 || !c.HasAttr("axis")) return b;
  COBRA_ASSIGN_OR_RETURN(const int axis, WrapAxis(c.Int("axis"), c.Rank(0)));
  graph::Shape shape = b->type.shape;
  while (static_cast<int>(shape.size()) + axis < c.Rank(0)) shape.push_back(1);
  return c.Reshape(b, shape);
}

template <graph::Op kOp>
absl::StatusOr<Outputs> Arithmetic(NodeContext& c) {
  static_assert(WithOperandsSwapped(kOp).has_value(), "BinaryCall needs the operator with swapped operands");
  COBRA_ASSIGN_OR_RETURN(TensorPtr b, SecondOperand(c));
  return c.Out(BinaryCall(c, kOp, c.In(0), b));
}

absl::StatusOr<Outputs> Div(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr b, SecondOperand(c));
  if (graph::IsFloatingPoint(c.Type(0).dtype)) return c.Out(BinaryCall(c, graph::Op::div, c.In(0), b));
  return c.Out(c.Call(graph::Op::div, {{"rounding_mode", std::string("trunc")}}, {c.In(0), b}));
}

// The result has the type of the base.
absl::StatusOr<Outputs> Pow(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr exponent, SecondOperand(c));
  const graph::DType dtype = c.Type(0).dtype;
  if (std::optional<graph::AttributeValue> number = AsNumber(c, exponent, c.In(0));
      number.has_value() && graph::IsFloatingPoint(dtype)) {
    return c.Out(c.Call(graph::Op::pow, {{"exponent", *number}}, {c.In(0)}));
  }
  const graph::DType common = graph::PromoteDTypes(dtype, exponent->type.dtype);
  COBRA_ASSIGN_OR_RETURN(TensorPtr base, c.Cast(c.In(0), common));
  COBRA_ASSIGN_OR_RETURN(exponent, c.Cast(exponent, common));
  COBRA_ASSIGN_OR_RETURN(TensorPtr power, c.Binary(graph::Op::pow, base, exponent));
  return c.Out(c.Cast(power, dtype));
}

absl::StatusOr<Outputs> Mod(NodeContext& c) {
  const bool truncates = c.Int("fmod") != 0;
  return c.Out(c.Binary(truncates ? graph::Op::fmod : graph::Op::remainder, c.In(0), c.In(1)));
}

template <graph::Op kOp>
absl::StatusOr<Outputs> Folded(NodeContext& c) {  // Max, Min, Sum: any number of inputs
  TensorPtr y = c.In(0);
  for (size_t i = 1; i < c.num_inputs(); ++i) {
    if (!c.Has(i)) return Invalid("input ", i, " is missing");
    COBRA_ASSIGN_OR_RETURN(y, c.Binary(kOp, y, c.In(i)));
  }
  return Outputs{y};
}

absl::StatusOr<Outputs> Mean(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(Outputs sum, Folded<graph::Op::add>(c));
  if (c.num_inputs() == 1) return sum;
  return c.Out(c.WithNumber(graph::Op::div, sum[0].tensor, static_cast<int64_t>(c.num_inputs())));
}

// A bound of Clip: a number, a tensor of the graph, or neither.
struct Bound {
  std::optional<graph::AttributeValue> number;
  TensorPtr tensor;
};

absl::StatusOr<Bound> BoundAt(NodeContext& c, size_t i, absl::string_view attribute) {
  Bound bound;
  if (c.opset() < 11) {
    const double none = attribute == "min" ? std::numeric_limits<float>::lowest() : std::numeric_limits<float>::max();
    const double value = c.Float(attribute, none);
    if (static_cast<float>(value) != static_cast<float>(none)) bound.number = Number(c.Type(0).dtype, value);
    return bound;
  }
  if (!c.Has(i)) return bound;
  bound.number = AsNumber(c, c.In(i), nullptr);
  if (!bound.number.has_value()) bound.tensor = c.In(i);
  return bound;
}

absl::StatusOr<Outputs> Clip(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const Bound low, BoundAt(c, 1, "min"));
  COBRA_ASSIGN_OR_RETURN(const Bound high, BoundAt(c, 2, "max"));
  graph::Attributes attributes;
  if (low.number) attributes.Set("min", *low.number);
  if (high.number) attributes.Set("max", *high.number);
  if (attributes.empty() && low.tensor == nullptr && high.tensor == nullptr) return Outputs{c.In(0)};
  if (low.number && high.number && graph::IsFloatingPoint(c.Type(0).dtype) && attributes.Double("min") == 0 &&
      attributes.Double("max") == 6) {
    return c.Out(c.Call(graph::Op::hardtanh, {{"min_val", 0.0}, {"max_val", 6.0}}, {c.In(0)}));  // nn.ReLU6
  }
  TensorPtr low_tensor = low.tensor, high_tensor = high.tensor;
  // PyTorch's clamp takes two tensors or two numbers, not one of each.
  if (low.number && high_tensor != nullptr) low_tensor = c.In(1);
  if (high.number && low_tensor != nullptr) high_tensor = c.In(2);
  if (low_tensor != nullptr || high_tensor != nullptr) attributes = {};
  return c.Out(c.Call(graph::Op::clamp, attributes, {c.In(0), low_tensor, high_tensor}));
}

absl::StatusOr<Outputs> BitShift(NodeContext& c) {
  const std::string direction = c.String("direction");
  if (direction != "LEFT" && direction != "RIGHT") return Invalid("direction is \"", direction, "\"");
  return c.Out(
      c.Binary(direction == "LEFT" ? graph::Op::bitwise_left_shift : graph::Op::bitwise_right_shift, c.In(0), c.In(1)));
}

template <graph::Op kOp>
absl::StatusOr<Outputs> Compared(NodeContext& c) {
  static_assert(WithOperandsSwapped(kOp).has_value(), "BinaryCall needs the operator with swapped operands");
  COBRA_ASSIGN_OR_RETURN(TensorPtr b, SecondOperand(c));
  return c.Out(BinaryCall(c, kOp, c.In(0), b));
}

template <graph::Op kOp>
absl::StatusOr<Outputs> Logical(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr b, SecondOperand(c));
  return c.Out(c.Binary(kOp, c.In(0), b));
}

// The bits of unsigned numbers that are carried in a wider type are the same ones.
template <graph::Op kOp>
absl::StatusOr<Outputs> Bitwise(NodeContext& c) {
  return c.Out(c.Binary(kOp, c.In(0), c.In(1)));
}

absl::StatusOr<Outputs> BitwiseNot(NodeContext& c) {
  const int bits = UnsignedBits(c.In(0)->onnx_type);
  if (bits == 64) return Unsupported("64-bit unsigned integers");
  if (bits == 0) return c.Out(c.Unary(graph::Op::bitwise_not, c.In(0)));
  return c.Out(c.WithNumber(graph::Op::rsub, c.In(0), (int64_t{1} << bits) - 1));
}

absl::StatusOr<Outputs> IsInf(NodeContext& c) {
  const bool negative = c.Int("detect_negative", 1) != 0, positive = c.Int("detect_positive", 1) != 0;
  if (negative && positive) return c.Out(c.Unary(graph::Op::isinf, c.In(0)));
  if (!negative && !positive) return c.Out(c.Filled({c.ShapeOf(0), graph::DType::bool_}, 0));
  return c.Out(c.WithNumber(graph::Op::eq, c.In(0), positive ? INFINITY : -INFINITY));
}

// Integers of 2 and 4 bits keep the lowest bits of wider ones.
absl::StatusOr<Outputs> CastAs(NodeContext& c, int32_t onnx_type) {
  COBRA_ASSIGN_OR_RETURN(const graph::DType dtype, DTypeOf(onnx_type));
  if (!IsNarrow(onnx_type)) return c.Out(c.Cast(c.In(0), dtype));
  const IntegerRange range = RangeOf(onnx_type);
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Cast(c.In(0), graph::DType::int32));
  const auto with = [&](graph::Op op, double number) { return c.WithNumber(op, y, static_cast<int64_t>(number)); };
  COBRA_ASSIGN_OR_RETURN(y, with(graph::Op::sub, range.low));
  COBRA_ASSIGN_OR_RETURN(y, with(graph::Op::remainder, range.high - range.low + 1));
  COBRA_ASSIGN_OR_RETURN(y, with(graph::Op::add, range.low));
  COBRA_ASSIGN_OR_RETURN(y, c.Cast(y, dtype));
  y->onnx_type = onnx_type;
  return Outputs{y};
}

absl::StatusOr<Outputs> CastTo(NodeContext& c) { return CastAs(c, static_cast<int32_t>(c.Int("to"))); }
absl::StatusOr<Outputs> CastLike(NodeContext& c) { return CastAs(c, OnnxTypeOf(*c.In(1))); }

absl::StatusOr<Outputs> Where(NodeContext& c) {
  return c.Out(c.Call(graph::Op::where, {}, {c.In(0), c.In(1), c.In(2)}));
}

absl::StatusOr<Outputs> Identity(NodeContext& c) { return Outputs{c.InValue(0)}; }

// At inference Dropout changes nothing. Its mask, if an output reads it, keeps all elements.
absl::StatusOr<Outputs> Dropout(NodeContext& c) {
  double ratio = c.Float("ratio", 0.5);
  if (c.Has(1)) {
    COBRA_ASSIGN_OR_RETURN(ratio, c.KnownNumber(1, "ratio"));
  }
  bool training = c.opset() < 7 && c.Int("is_test", 0) == 0;
  if (c.Has(2)) {
    COBRA_ASSIGN_OR_RETURN(const int64_t mode, c.KnownInt(2, "training_mode"));
    training = mode != 0;
  }
  if (training && ratio != 0) return Unsupported("training_mode=1 draws random numbers");
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Call(graph::Op::dropout, {{"p", ratio}}, {c.In(0)}));
  Outputs outputs{y};
  if (c.Wants(1)) {
    COBRA_ASSIGN_OR_RETURN(TensorPtr mask,
                           c.Filled({c.ShapeOf(0), c.opset() < 10 ? c.Type(0).dtype : graph::DType::bool_}, 1));
    outputs.emplace_back(mask);
  }
  return outputs;
}

}  // namespace

void AddElementwiseOperators(Registry* registry) {
  registry->Add("Abs", {Unary<graph::Op::abs>});
  registry->Add("Acos", {Unary<graph::Op::acos>});
  registry->Add("Acosh", {Unary<graph::Op::acosh>});
  registry->Add("Asin", {Unary<graph::Op::asin>});
  registry->Add("Asinh", {Unary<graph::Op::asinh>});
  registry->Add("Atanh", {Unary<graph::Op::atanh>});
  registry->Add("Det", {Unary<graph::Op::det>});
  registry->Add("BitShift", {BitShift, 2, false, "unsigned types wider than 8 bits: results that fit"});
  registry->Add("Atan", {Unary<graph::Op::atan>});
  registry->Add("Ceil", {Unary<graph::Op::ceil>});
  registry->Add("Cos", {Unary<graph::Op::cos>});
  registry->Add("Cosh", {Unary<graph::Op::cosh>});
  registry->Add("Erf", {Unary<graph::Op::erf>});
  registry->Add("Exp", {Unary<graph::Op::exp>});
  registry->Add("Floor", {Unary<graph::Op::floor>});
  registry->Add("IsNaN", {Unary<graph::Op::isnan>});
  registry->Add("Log", {Unary<graph::Op::log>});
  registry->Add("Neg", {Unary<graph::Op::neg>});
  registry->Add("Not", {Unary<graph::Op::logical_not>});
  registry->Add("Reciprocal", {Unary<graph::Op::reciprocal>});
  registry->Add("Round", {Unary<graph::Op::round>});
  registry->Add("Sign", {Unary<graph::Op::sign>});
  registry->Add("Sin", {Unary<graph::Op::sin>});
  registry->Add("Sinh", {Unary<graph::Op::sinh>});
  registry->Add("Sqrt", {Unary<graph::Op::sqrt>});
  registry->Add("Tan", {Unary<graph::Op::tan>});
  registry->Add("Add", {Arithmetic<graph::Op::add>, 2});
  registry->Add("Sub", {Arithmetic<graph::Op::sub>, 2});
  registry->Add("Mul", {Arithmetic<graph::Op::mul>, 2});
  registry->Add("Div", {Div, 2});
  registry->Add("Pow", {Pow, 2});
  registry->Add("Mod", {Mod, 2});
  registry->Add("Max", {Folded<graph::Op::maximum>});
  registry->Add("Min", {Folded<graph::Op::minimum>});
  registry->Add("Sum", {Folded<graph::Op::add>});
  registry->Add("Mean", {Mean});
  registry->Add("Clip", {Clip});
  registry->Add("Equal", {Compared<graph::Op::eq>, 2});
  registry->Add("Greater", {Compared<graph::Op::gt>, 2});
  registry->Add("GreaterOrEqual", {Compared<graph::Op::ge>, 2});
  registry->Add("Less", {Compared<graph::Op::lt>, 2});
  registry->Add("LessOrEqual", {Compared<graph::Op::le>, 2});
  registry->Add("And", {Logical<graph::Op::logical_and>, 2});
  registry->Add("Or", {Logical<graph::Op::logical_or>, 2});
  registry->Add("Xor", {Logical<graph::Op::logical_xor>, 2});
  registry->Add("BitwiseAnd", {Bitwise<graph::Op::bitwise_and>, 2});
  registry->Add("BitwiseOr", {Bitwise<graph::Op::bitwise_or>, 2});
  registry->Add("BitwiseXor", {Bitwise<graph::Op::bitwise_xor>, 2});
  registry->Add("BitwiseNot", {BitwiseNot});
  registry->Add("IsInf", {IsInf});
  registry->Add("Cast", {CastTo, 1, false, "no strings, no floating point numbers of 8 and fewer bits"});
  registry->Add("CastLike", {CastLike, 2, false, "no strings, no floating point numbers of 8 and fewer bits"});
  registry->Add("Where", {Where, 3});
  registry->Add("Identity", {Identity, 1, true});
  registry->Add("Dropout", {Dropout, 1, false, "inference"});
}

}  // namespace cobra::onnx
