// Elementwise arithmetic of several tensors, comparisons, logic.
#include <cmath>

#include "export/onnx/handlers.h"

namespace cobra::exporting {
namespace {

// The operands of a call as tensors of one type: the second may be a number (`other`), or the first
// (`input` of pow).
struct Operands {
  DType dtype;
  std::string a, b;
};

std::string OperandAt(CallWriter& c, size_t i, absl::string_view attribute, DType dtype) {
  return c.Has(i) ? c.Input(i, dtype) : c.Number(dtype, c.Double(attribute));
}

// In the type of the result; for a comparison in the operands' common type.
Operands OperandsOf(CallWriter& c, DType dtype) {
  const bool power = c.op() == graph::Op::pow || c.op() == graph::Op::float_power;
  return {dtype, OperandAt(c, 0, "input", dtype), OperandAt(c, 1, power ? "exponent" : "other", dtype)};
}

bool IsReal(DType dtype) { return graph::IsFloatingPoint(dtype); }

// The largest whole number that is not above a / b.
std::string FloorOfQuotient(CallWriter& c, const std::string& a, const std::string& b, DType dtype) {
  if (IsReal(dtype)) return c.Node("Floor", {c.Node("Div", {a, b})});
  const DType wide = ArithmeticType(dtype);
  const std::string x = c.Cast(a, dtype, wide), y = c.Cast(b, dtype, wide);
  // Mod has the sign of the divisor, so that the rest is a multiple of it; Div alone cuts off
  // towards zero.
  const std::string quotient = c.Node("Div", {c.Node("Sub", {x, c.Node("Mod", {x, y})}), y});
  return c.Cast(quotient, wide, dtype);
}

std::string RestOfFloor(CallWriter& c, const std::string& a, const std::string& b, DType dtype) {
  if (!IsReal(dtype)) return c.Arithmetic("Mod", {a, b}, dtype);
  return c.Node("Sub", {a, c.Node("Mul", {c.Node("Floor", {c.Node("Div", {a, b})}), b})});
}

// Arc tangent of a / b in the quadrant of (b, a).
std::string AngleOf(CallWriter& c, const std::string& a, const std::string& b, DType dtype) {
  const auto number = [&](double value) { return c.Number(dtype, value); };
  const std::string zero = number(0);
  const std::string right = c.Node("Atan", {c.Node("Div", {a, b})});
  const std::string upper = c.Node("GreaterOrEqual", {a, zero});
  const std::string turn = c.Node("Where", {upper, number(M_PI), number(-M_PI)});
  const std::string left = c.Node("Add", {right, turn});
  const std::string side = c.Node("Where", {c.Node("Less", {b, zero}), left, right});
  // On the axis of a, and in the middle.
  const std::string half = c.Node("Mul", {c.Node("Sign", {a}), number(M_PI / 2)});
  return c.Node("Where", {c.Node("Equal", {b, zero}), half, side});
}

// log(e^a + e^b) without overflow: the larger one, and log(1 + e^-distance).
std::string LogOfSum(CallWriter& c, const std::string& a, const std::string& b, DType dtype, double base) {
  const double unit = std::log(base);
  const std::string distance = c.Node("Abs", {c.Node("Sub", {a, b})});
  const std::string rest = c.Node("Softplus", {c.Scaled(distance, -unit, dtype)});
  return c.Node("Add", {c.Node("Max", {a, b}), c.Scaled(rest, 1 / unit, dtype)});
}

std::string WithSignOf(CallWriter& c, const std::string& a, const std::string& b, DType dtype) {
  const std::string zero = c.Number(dtype, 0);
  const std::string below =
      c.Node("And", {c.Node("Equal", {b, zero}), c.Node("Less", {c.Node("Reciprocal", {b}), zero})});
  const std::string negative = c.Node("Or", {c.Node("Less", {b, zero}), below});
  const std::string size = c.Node("Abs", {a});
  return c.Node("Where", {negative, c.Node("Neg", {size}), size});
}

// x log(y), 0 where x is.
std::string XLog(CallWriter& c, const std::string& x, const std::string& y, DType dtype) {
  const std::string zero = c.Number(dtype, 0);
  return c.Node("Where", {c.Node("Equal", {x, zero}), zero, c.Node("Mul", {x, c.Node("Log", {y})})});
}

// The larger or the smaller one; the other where one is not a number.
std::string WithoutNan(CallWriter& c, const Operands& o, const char* op_type) {
  const std::string y = c.Arithmetic(op_type, {o.a, o.b}, o.dtype);
  if (!IsReal(o.dtype)) return y;
  const std::string second = c.Node("Where", {c.Node("IsNaN", {o.b}), o.a, y});
  return c.Node("Where", {c.Node("IsNaN", {o.a}), o.b, second});
}

std::string Quotient(CallWriter& c, const Operands& o) {
  const std::string mode = c.String("rounding_mode");
  if (mode == "floor") return FloorOfQuotient(c, o.a, o.b, o.dtype);
  const std::string y = c.Arithmetic("Div", {o.a, o.b}, o.dtype);
  return mode == "trunc" && IsReal(o.dtype) ? Truncated(c, y) : y;
}

std::string Shifted(CallWriter& c, const Operands& o, bool left) {
  const std::string factor = c.Arithmetic("Pow", {c.Number(o.dtype, 2), o.b}, o.dtype);
  return left ? c.Arithmetic("Mul", {o.a, factor}, o.dtype) : FloorOfQuotient(c, o.a, factor, o.dtype);
}

}  // namespace

// add, sub, rsub with alpha; mul. Of truth values the sum is "or", the product "and".
absl::StatusOr<Names> WriteArithmetic(CallWriter& c) {
  const DType dtype = c.node().inplace ? c.CommonType() : c.Out().dtype;
  const Operands o = OperandsOf(c, dtype);
  const double alpha = c.Double("alpha", 1);
  std::string y;
  switch (c.op()) {
    case graph::Op::mul: y = c.Arithmetic("Mul", {o.a, o.b}, dtype); break;
    case graph::Op::sub: y = c.Arithmetic("Sub", {o.a, c.Scaled(o.b, alpha, dtype)}, dtype); break;
    case graph::Op::rsub: y = c.Arithmetic("Sub", {o.b, c.Scaled(o.a, alpha, dtype)}, dtype); break;
    default: y = c.Arithmetic("Add", {o.a, c.Scaled(o.b, alpha, dtype)}, dtype);
  }
  return Names{c.Cast(y, dtype, c.Out().dtype)};
}

absl::StatusOr<Names> WriteDivision(CallWriter& c) {
  const DType out = c.Out().dtype;
  DType dtype = c.node().inplace ? c.CommonType() : out;
  const bool real = c.op() == graph::Op::rdiv || (c.op() == graph::Op::div && !c.HasValue("rounding_mode"));
  if (real && !IsReal(dtype)) dtype = DType::float32;
  const Operands o = OperandsOf(c, dtype);
  std::string y;
  switch (c.op()) {
    case graph::Op::div: y = Quotient(c, o); break;
    case graph::Op::rdiv: y = c.Node("Div", {o.b, o.a}); break;
    case graph::Op::floor_divide: y = FloorOfQuotient(c, o.a, o.b, dtype); break;
    case graph::Op::rfloor_divide: y = FloorOfQuotient(c, o.b, o.a, dtype); break;
    case graph::Op::remainder: y = RestOfFloor(c, o.a, o.b, dtype); break;
    case graph::Op::rmod: y = RestOfFloor(c, o.b, o.a, dtype); break;
    default: {  // fmod has the sign of the dividend
      const DType wide = ArithmeticType(dtype);
      y = c.Node("Mod", {c.Cast(o.a, dtype, wide), c.Cast(o.b, dtype, wide)}, {{"fmod", 1}});
      y = c.Cast(y, wide, dtype);
    }
  }
  return Names{c.Cast(y, dtype, out)};
}

absl::StatusOr<Names> WritePower(CallWriter& c) {
  const DType dtype = c.node().inplace ? c.CommonType() : c.Out().dtype;
  const Operands o = OperandsOf(c, dtype);
  const bool reversed = c.op() == graph::Op::rpow;
  return Names{c.Cast(c.Arithmetic("Pow", {reversed ? o.b : o.a, reversed ? o.a : o.b}, dtype), dtype, c.Out().dtype)};
}

// Functions of two numbers.
absl::StatusOr<Names> WriteBinary(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const Operands o = OperandsOf(c, dtype);
  switch (c.op()) {
    case graph::Op::maximum: return Names{c.Arithmetic("Max", {o.a, o.b}, dtype)};
    case graph::Op::minimum: return Names{c.Arithmetic("Min", {o.a, o.b}, dtype)};
    case graph::Op::fmax: return Names{WithoutNan(c, o, "Max")};
    case graph::Op::fmin: return Names{WithoutNan(c, o, "Min")};
    case graph::Op::atan2:
    case graph::Op::arctan2: return Names{AngleOf(c, o.a, o.b, dtype)};
    case graph::Op::hypot:
      return Names{c.Node("Sqrt", {c.Node("Add", {c.Node("Mul", {o.a, o.a}), c.Node("Mul", {o.b, o.b})})})};
    case graph::Op::logaddexp: return Names{LogOfSum(c, o.a, o.b, dtype, M_E)};
    case graph::Op::logaddexp2: return Names{LogOfSum(c, o.a, o.b, dtype, 2)};
    case graph::Op::copysign: return Names{WithSignOf(c, o.a, o.b, dtype)};
    case graph::Op::xlogy:
    case graph::Op::special_xlogy: return Names{XLog(c, o.a, o.b, dtype)};
    case graph::Op::special_xlog1py: return Names{XLog(c, o.a, c.Node("Add", {o.b, c.Number(dtype, 1)}), dtype)};
    case graph::Op::ldexp: return Names{c.Node("Mul", {o.a, c.Node("Pow", {c.Number(dtype, 2), o.b})})};
    case graph::Op::bitwise_left_shift: return Names{Shifted(c, o, true)};
    case graph::Op::bitwise_right_shift: return Names{Shifted(c, o, false)};
    case graph::Op::heaviside: {
      const DType wide = ArithmeticType(dtype);
      const std::string x = c.Cast(o.a, dtype, wide), zero = c.Number(wide, 0);
      const std::string step = c.Cast(c.Node("Greater", {x, zero}), DType::bool_, wide);
      const std::string y = c.Node("Where", {c.Node("Equal", {x, zero}), c.Cast(o.b, dtype, wide), step});
      return Names{c.Cast(y, wide, dtype)};
    }
    default: return Refused("is not a function that this folder knows");
  }
}

absl::StatusOr<Names> WriteComparison(CallWriter& c) {
  const DType common = c.CommonType(), wide = ArithmeticType(common);
  const Operands o = OperandsOf(c, wide);
  std::string y;
  switch (c.op()) {
    case graph::Op::eq: y = c.Node("Equal", {o.a, o.b}); break;
    case graph::Op::ne: y = c.Node("Not", {c.Node("Equal", {o.a, o.b})}); break;
    case graph::Op::lt: y = c.Node("Less", {o.a, o.b}); break;
    case graph::Op::le: y = c.Node("LessOrEqual", {o.a, o.b}); break;
    case graph::Op::gt: y = c.Node("Greater", {o.a, o.b}); break;
    default: y = c.Node("GreaterOrEqual", {o.a, o.b});
  }
  return Names{c.Cast(y, DType::bool_, c.Out().dtype)};
}

// |a - b| <= atol + rtol |b|
absl::StatusOr<Names> WriteIsClose(CallWriter& c) {
  const DType dtype = IsReal(c.Type(0).dtype) ? c.Type(0).dtype : DType::float64;
  if (c.Bool("equal_nan")) return Refused("equal_nan=True");
  const std::string a = c.Input(0, dtype), b = c.Input(1, dtype);
  const std::string distance = c.Node("Abs", {c.Node("Sub", {a, b})});
  const std::string slack = c.Scaled(c.Node("Abs", {b}), c.Double("rtol", 1e-5), dtype);
  const std::string most = c.Node("Add", {slack, c.Number(dtype, c.Double("atol", 1e-8))});
  return Names{c.Node("Or", {c.Node("LessOrEqual", {distance, most}), c.Node("Equal", {a, b})})};
}

// Whether each element is among the test elements.
absl::StatusOr<Names> WriteIsIn(CallWriter& c) {
  const DType wide = ArithmeticType(c.CommonType());
  const std::string x = OperandAt(c, 0, "elements", wide);
  std::string y;
  if (!c.Has(1)) {
    y = c.Node("Equal", {x, c.Number(wide, c.Double("test_elements"))});
  } else {
    const int rank = c.Has(0) ? c.Rank(0) : 0;
    const std::string tests = c.Reshaped(c.Input(1, wide), {c.Type(1).num_elements()});
    const std::string hits = c.Node("Equal", {c.Unsqueezed(x, {rank}), tests});
    y = c.Reduced("ReduceMax", c.Cast(hits, DType::bool_, DType::int32), {rank}, false);
    y = c.Cast(y, DType::int32, DType::bool_);
  }
  return Names{c.Bool("invert") ? c.Node("Not", {y}) : y};
}

absl::StatusOr<Names> WriteLogic(CallWriter& c) {
  const std::string a = c.Input(0, DType::bool_), b = c.Input(1, DType::bool_);
  const char* op_type = c.op() == graph::Op::logical_and ? "And" : c.op() == graph::Op::logical_or ? "Or" : "Xor";
  return Names{c.Cast(c.Node(op_type, {a, b}), DType::bool_, c.Out().dtype)};
}

// Opset 17 has them for truth values only.
absl::StatusOr<Names> WriteBitwise(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  if (c.op() == graph::Op::bitwise_not && dtype != DType::bool_) {  // -x - 1
    return Names{c.Arithmetic("Sub", {c.Number(dtype, -1), c.In(0)}, dtype)};
  }
  if (c.op() == graph::Op::bitwise_not) return Names{c.Node("Not", {c.In(0)})};
  if (dtype != DType::bool_) return Refused("bits of integers (", graph::DTypeName(dtype), ") need opset 18");
  const Operands o = OperandsOf(c, dtype);
  const char* op_type = c.op() == graph::Op::bitwise_and ? "And" : c.op() == graph::Op::bitwise_or ? "Or" : "Xor";
  return Names{c.Node(op_type, {o.a, o.b})};
}

absl::StatusOr<Names> WriteWhere(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const std::string a = OperandAt(c, 1, "input", dtype), b = OperandAt(c, 2, "other", dtype);
  return Names{c.Chosen(c.Input(0, DType::bool_), a, b, dtype)};
}

absl::StatusOr<Names> WriteMaskedFill(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  return Names{c.Chosen(c.Input(1, DType::bool_), OperandAt(c, 2, "value", dtype), c.Input(0, dtype), dtype)};
}

// clamp, clamp_min, clamp_max
absl::StatusOr<Names> WriteClamp(CallWriter& c) {
  const DType dtype = c.node().inplace ? c.CommonType() : c.Out().dtype;
  const bool low_only = c.op() == graph::Op::clamp_min, high_only = c.op() == graph::Op::clamp_max;
  const size_t low_at = 1, high_at = high_only ? 1 : 2;
  const bool has_low = !high_only && (c.Has(low_at) || c.HasValue("min"));
  const bool has_high = !low_only && (c.Has(high_at) || c.HasValue("max"));
  std::string y = c.Input(0, dtype);
  const bool numbers = !c.Has(1) && !(c.num_inputs() > 2 && c.Has(2));
  if (numbers) {
    const std::string low = has_low ? c.Number(ArithmeticType(dtype), c.Double("min")) : "";
    const std::string high = has_high ? c.Number(ArithmeticType(dtype), c.Double("max")) : "";
    y = c.Cast(c.Node("Clip", {c.Cast(y, dtype, ArithmeticType(dtype)), low, high}), ArithmeticType(dtype), dtype);
  } else {
    if (has_low) y = c.Arithmetic("Max", {y, OperandAt(c, low_at, "min", dtype)}, dtype);
    if (has_high) y = c.Arithmetic("Min", {y, OperandAt(c, high_at, "max", dtype)}, dtype);
  }
  return Names{c.Cast(y, dtype, c.Out().dtype)};
}

absl::StatusOr<Names> WriteLerp(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const std::string distance = c.Node("Sub", {c.In(1), c.In(0)});
  const std::string step = c.Node("Mul", {distance, OperandAt(c, 2, "weight", dtype)});
  return Names{c.Node("Add", {c.In(0), step})};
}

// input + value * tensor1 * tensor2, or / tensor2
absl::StatusOr<Names> WriteAddcmul(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const char* op_type = c.op() == graph::Op::addcmul ? "Mul" : "Div";
  const std::string term = c.Arithmetic(op_type, {c.Input(1, dtype), c.Input(2, dtype)}, dtype);
  return Names{c.Combined(c.Input(0, dtype), 1, term, c.Double("value", 1), dtype)};
}

// a1 b2 - a2 b1 and so on, along a dimension of three.
absl::StatusOr<Names> WriteCross(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const Shape& shape = c.Out().shape;
  const int rank = static_cast<int>(shape.size());
  int64_t axis = c.Dim("dim", -1, rank);
  if (!c.HasValue("dim") && c.op() == graph::Op::cross) {  // the first one of three elements
    for (axis = 0; axis < rank && shape[static_cast<size_t>(axis)] != 3; ++axis) {
    }
  }
  const auto turned = [&](size_t i, const Ints& order) {
    const std::string x = c.Input(i, dtype);
    return c.Gathered(c.ShapeOf(i) == shape ? x : c.Expanded(x, shape), order, axis);
  };
  const std::string first = c.Arithmetic("Mul", {turned(0, {1, 2, 0}), turned(1, {2, 0, 1})}, dtype);
  const std::string second = c.Arithmetic("Mul", {turned(0, {2, 0, 1}), turned(1, {1, 2, 0})}, dtype);
  return Names{c.Arithmetic("Sub", {first, second}, dtype)};
}

absl::StatusOr<Names> WriteFakeQuantize(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  std::string scale, zero;
  if (c.op() == graph::Op::fake_quantize_per_channel_affine) {
    Shape shape(static_cast<size_t>(c.Rank(0)), 1);
    shape[static_cast<size_t>(c.Dim("axis", 0, c.Rank(0)))] = c.Type(1).num_elements();
    scale = c.Reshaped(c.Input(1, dtype), shape);
    zero = c.Reshaped(c.Input(2, dtype), shape);
  } else {
    scale = OperandAt(c, 1, "scale", dtype);
    zero = OperandAt(c, 2, "zero_point", dtype);
  }
  std::string y = c.Node("Add", {c.Node("Round", {c.Node("Div", {c.In(0), scale})}), zero});
  y = c.Node("Clip", {y, c.Number(dtype, c.Double("quant_min")), c.Number(dtype, c.Double("quant_max"))});
  return Names{c.Node("Mul", {c.Node("Sub", {y, zero}), scale})};
}

}  // namespace cobra::exporting
