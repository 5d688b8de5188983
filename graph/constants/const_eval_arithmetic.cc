// Values of calls that compute element by element.
#include <cmath>
#include <string>
#include <utility>

#include "graph/constants/const_rules.h"
#include "graph/op_table.h"

namespace cobra::graph::const_rules {
namespace {

double PythonMod(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// Computes the quotient from the remainder, as CPython and c10's div_floor do.
double FloorDivide(double a, double b) {
  if (b == 0) return a / b;
  double quotient = (a - std::fmod(a, b)) / b;
  if (std::fmod(a, b) != 0 && (b < 0) != (std::fmod(a, b) < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0, a / b);
  const double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}

// What is not a number wins, as in PyTorch.
double Larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double Smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }

using UnaryFn = double (*)(double);
constexpr UnaryFn UnaryFunction(Op op) {
  switch (op) {
    case Op::abs: return [](double x) { return std::fabs(x); };
    case Op::neg: return [](double x) { return -x; };
    case Op::exp: return [](double x) { return std::exp(x); };
    case Op::exp2: return [](double x) { return std::exp2(x); };
    case Op::expm1: return [](double x) { return std::expm1(x); };
    case Op::log: return [](double x) { return std::log(x); };
    case Op::log2: return [](double x) { return std::log2(x); };
    case Op::log10: return [](double x) { return std::log10(x); };
    case Op::log1p: return [](double x) { return std::log1p(x); };
    case Op::sqrt: return [](double x) { return std::sqrt(x); };
    case Op::rsqrt: return [](double x) { return 1 / std::sqrt(x); };
    case Op::reciprocal: return [](double x) { return 1 / x; };
    case Op::sin: return [](double x) { return std::sin(x); };
    case Op::cos: return [](double x) { return std::cos(x); };
    case Op::tan: return [](double x) { return std::tan(x); };
    case Op::asin: return [](double x) { return std::asin(x); };
    case Op::acos: return [](double x) { return std::acos(x); };
    case Op::atan: return [](double x) { return std::atan(x); };
    case Op::sinh: return [](double x) { return std::sinh(x); };
    case Op::cosh: return [](double x) { return std::cosh(x); };
    case Op::asinh: return [](double x) { return std::asinh(x); };
    case Op::acosh: return [](double x) { return std::acosh(x); };
    case Op::atanh: return [](double x) { return std::atanh(x); };
    case Op::erfc: return [](double x) { return std::erfc(x); };
    case Op::lgamma: return [](double x) { return std::lgamma(x); };
    case Op::i0: return [](double x) { return std::cyl_bessel_i(0.0, std::fabs(x)); };
    case Op::deg2rad: return [](double x) { return x * (3.14159265358979323846 / 180); };
    case Op::rad2deg: return [](double x) { return x * (180 / 3.14159265358979323846); };
    case Op::frac: return [](double x) { return x - std::trunc(x); };
    case Op::tanh: return [](double x) { return std::tanh(x); };
    case Op::erf: return [](double x) { return std::erf(x); };
    case Op::sigmoid: return [](double x) { return 1 / (1 + std::exp(-x)); };
    case Op::relu: return [](double x) { return std::max(x, 0.0); };
    case Op::square: return [](double x) { return x * x; };
    case Op::sign: return [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; };
    case Op::floor: return [](double x) { return std::floor(x); };
    case Op::ceil: return [](double x) { return std::ceil(x); };
    case Op::round: return [](double x) { return std::nearbyint(x); };
    case Op::trunc: return [](double x) { return std::trunc(x); };
    case Op::logical_not: return [](double x) { return x == 0 ? 1.0 : 0.0; };
    case Op::isnan: return [](double x) { return std::isnan(x) ? 1.0 : 0.0; };
    case Op::isinf: return [](double x) { return std::isinf(x) ? 1.0 : 0.0; };
    case Op::isfinite: return [](double x) { return std::isfinite(x) ? 1.0 : 0.0; };
    default: return nullptr;
  }
}

using BinaryFn = double (*)(double, double);
constexpr BinaryFn BinaryFunction(Op op) {
  switch (op) {
    case Op::add: return [](double a, double b) { return a + b; };
    case Op::sub: return [](double a, double b) { return a - b; };
    case Op::mul: return [](double a, double b) { return a * b; };
    case Op::div: return [](double a, double b) { return a / b; };
    case Op::rsub: return [](double a, double b) { return b - a; };
    case Op::rdiv: return [](double a, double b) { return b / a; };
    case Op::floor_divide: return FloorDivide;
    case Op::rfloor_divide: return [](double a, double b) { return FloorDivide(b, a); };
    case Op::rmod: return [](double a, double b) { return PythonMod(b, a); };
    case Op::hypot: return [](double a, double b) { return std::hypot(a, b); };
    case Op::copysign: return [](double a, double b) { return std::copysign(a, b); };
    case Op::fmax: return [](double a, double b) { return std::fmax(a, b); };
    case Op::fmin: return [](double a, double b) { return std::fmin(a, b); };
    case Op::logaddexp:
      return [](double a, double b) { return std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b))); };
    case Op::remainder: return PythonMod;
    case Op::fmod: return [](double a, double b) { return std::fmod(a, b); };
    case Op::pow: return [](double a, double b) { return std::pow(a, b); };
    case Op::rpow: return [](double a, double b) { return std::pow(b, a); };
    case Op::maximum: return Larger;
    case Op::minimum: return Smaller;
    case Op::atan2: return [](double a, double b) { return std::atan2(a, b); };
    case Op::eq: return [](double a, double b) { return a == b ? 1.0 : 0.0; };
    case Op::ne: return [](double a, double b) { return a != b ? 1.0 : 0.0; };
    case Op::lt: return [](double a, double b) { return a < b ? 1.0 : 0.0; };
    case Op::le: return [](double a, double b) { return a <= b ? 1.0 : 0.0; };
    case Op::gt: return [](double a, double b) { return a > b ? 1.0 : 0.0; };
    case Op::ge: return [](double a, double b) { return a >= b ? 1.0 : 0.0; };
    case Op::logical_and: return [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; };
    case Op::logical_or: return [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; };
    case Op::logical_xor: return [](double a, double b) { return (a != 0) != (b != 0) ? 1.0 : 0.0; };
    case Op::bitwise_and: return [](double a, double b) { return double(int64_t(a) & int64_t(b)); };
    case Op::bitwise_or: return [](double a, double b) { return double(int64_t(a) | int64_t(b)); };
    case Op::bitwise_xor: return [](double a, double b) { return double(int64_t(a) ^ int64_t(b)); };
    default: return nullptr;
  }
}

// Exactly the operators that have a function here use the rules Unary and Binary.
constexpr bool HasItsFunction(Op op) {
  return (ConstRulesOf(op).real == Unary) == (UnaryFunction(op) != nullptr) &&
         (ConstRulesOf(op).real == Binary) == (BinaryFunction(op) != nullptr);
}
COBRA_CHECK_EVERY_OP(HasItsFunction);

// One operand of an elementwise call: a tensor, or the number given instead of one.
struct Operand {
  Values number;
  const Values* values = nullptr;
  Shape shape;
};

std::optional<Operand> OperandAt(const ConstCall& call, size_t i, const Attributes& attributes,
                                 absl::string_view name = "") {
  Operand operand;
  if (call.has(i)) {
    operand.values = call.inputs[i].values;
    operand.shape = call.type(i).shape;
    return operand;
  }
  if (attributes.Find(name) == nullptr) return std::nullopt;
  operand.number = {attributes.Double(name)};
  return operand;
}

template <typename F>
Outputs Elementwise(const Shape& out, std::vector<Operand> operands, F f) {
  std::vector<Strides> strides;
  for (Operand& operand : operands) {
    if (operand.values == nullptr) operand.values = &operand.number;
    strides.push_back(BroadcastStrides(operand.shape, out));
  }
  Values values;
  ForEach(out, strides, [&](int64_t, const std::vector<int64_t>& at) {
    double arguments[3] = {0, 0, 0};
    for (size_t i = 0; i < operands.size(); ++i) arguments[i] = (*operands[i].values)[at[i]];
    values.push_back(f(arguments));
  });
  return {values};
}

// Rounds the Python numbers to the dtype of the tensors.
Attributes InTypeOfTensors(const ConstCall& call) {
  DType dtype = call.out().dtype;
  if (dtype == DType::bool_) {  // a comparison: the dtype of its operands
    for (const ConstInput& input : call.inputs) {
      if (input.type != nullptr) dtype = input.type->dtype;
    }
  }
  if (!IsFloatingPoint(dtype) || dtype == DType::float64) return call.attributes;
  Attributes rounded = call.attributes;
  for (const auto& [name, value] : call.attributes) {
    const auto* number = std::get_if<double>(&value);
    if (number != nullptr && name != "alpha") rounded.Set(name, RoundTo(dtype, *number));
  }
  return rounded;
}

Outputs OfTwo(const ConstCall& call, BinaryFn function) {
  const Attributes attributes = InTypeOfTensors(call);
  std::optional<Operand> a = OperandAt(call, 0, attributes, "input");
  std::optional<Operand> b = OperandAt(call, 1, attributes, call.op == Op::pow ? "exponent" : "other");
  if (!a || !b) return {};
  // Operands are converted to the dtype of the result: -1 becomes 255 in uint8.
  Values narrow_a, narrow_b;
  const DType dtype = call.out().dtype;
  if (IsIntegral(dtype) && dtype != DType::int64) {
    for (auto [operand, narrow] : {std::make_pair(&*a, &narrow_a), std::make_pair(&*b, &narrow_b)}) {
      for (double v : operand->values == nullptr ? operand->number : *operand->values)
        narrow->push_back(RoundTo(dtype, v));
      operand->values = narrow;
    }
  }
  const double alpha = call.op == Op::add || call.op == Op::sub ? attributes.Double("alpha", 1) : 1;
  const std::string rounding = attributes.String("rounding_mode");
  if (rounding == "floor") function = FloorDivide;
  if (rounding == "trunc") function = [](double x, double y) { return std::trunc(x / y); };
  const double reverse = call.op == Op::rsub ? attributes.Double("alpha", 1) : 1;  // other - alpha * input
  return Elementwise(call.out().shape, {*a, *b},
                     [=](const double* x) { return function(reverse * x[0], alpha * x[1]); });
}

}  // namespace

Outputs Unary(const ConstCall& call) {
  const UnaryFn function = UnaryFunction(call.op);
  Values values;
  for (double x : call.values(0)) values.push_back(function(x));
  return {values};
}

Outputs Binary(const ConstCall& call) { return OfTwo(call, BinaryFunction(call.op)); }

// max, min: a reduction of one tensor, or the elementwise extremum of two.
Outputs Extremum(const ConstCall& call) {
  if (!call.has(1)) return Reduction(call);
  return OfTwo(call, call.op == Op::max ? Larger : Smaller);
}

Outputs BitwiseNot(const ConstCall& call) {
  const bool logical = call.out().dtype == DType::bool_;
  Values values;
  for (double x : call.values(0)) values.push_back(logical ? (x == 0 ? 1.0 : 0.0) : double(~int64_t(x)));
  return {values};
}

namespace {

Outputs Chosen(const Shape& out, const std::optional<Operand>& condition, const std::optional<Operand>& yes,
               const std::optional<Operand>& no) {
  if (!condition || !yes || !no) return {};
  return Elementwise(out, {*condition, *yes, *no}, [](const double* x) { return x[0] != 0 ? x[1] : x[2]; });
}

}  // namespace

Outputs Where(const ConstCall& call) {
  const Attributes attributes = InTypeOfTensors(call);
  return Chosen(call.out().shape, OperandAt(call, 0, attributes), OperandAt(call, 1, attributes, "input"),
                OperandAt(call, 2, attributes, "other"));
}

Outputs MaskedFill(const ConstCall& call) {
  const Attributes attributes = InTypeOfTensors(call);
  return Chosen(call.out().shape, OperandAt(call, 1, attributes), OperandAt(call, 2, attributes, "value"),
                OperandAt(call, 0, attributes));
}

Outputs Lerp(const ConstCall& call) {
  const Attributes attributes = InTypeOfTensors(call);
  std::optional<Operand> a = OperandAt(call, 0, attributes), b = OperandAt(call, 1, attributes);
  std::optional<Operand> weight = OperandAt(call, 2, attributes, "weight");
  if (!a || !b || !weight) return {};
  return Elementwise(call.out().shape, {*a, *b, *weight}, [](const double* x) {
    return std::fabs(x[2]) < 0.5 ? x[0] + x[2] * (x[1] - x[0]) : x[1] - (x[1] - x[0]) * (1 - x[2]);
  });
}

// addcmul, addcdiv
Outputs ProductAdded(const ConstCall& call) {
  const Attributes attributes = InTypeOfTensors(call);
  std::optional<Operand> a = OperandAt(call, 0, attributes), b = OperandAt(call, 1, attributes);
  std::optional<Operand> c = OperandAt(call, 2, attributes);
  if (!a || !b || !c) return {};
  const double value = attributes.Double("value", 1);
  const bool divides = call.op == Op::addcdiv;
  return Elementwise(call.out().shape, {*a, *b, *c},
                     [=](const double* x) { return x[0] + value * (divides ? x[1] / x[2] : x[1] * x[2]); });
}

Outputs Clamp(const ConstCall& call) {
  if (call.has(1) || call.has(2)) return {};  // the bounds are tensors
  const Attributes attributes = InTypeOfTensors(call);
  const double low = attributes.Double("min", -INFINITY), high = attributes.Double("max", INFINITY);
  Values values;
  for (double x : call.values(0)) values.push_back(std::min(std::max(x, low), high));
  return {values};
}

// Casts, copies and views in the same order: only rounding to the output's dtype is needed.
Outputs Unchanged(const ConstCall& call) { return {call.values(0)}; }

Outputs Copied(const ConstCall& call) {
  if (!BroadcastsTo(call.type(1).shape, call.out().shape)) return {};
  return {Gathered(call.values(1), call.out().shape, BroadcastStrides(call.type(1).shape, call.out().shape))};
}

Outputs Zeros(const ConstCall& call) { return {Values(call.out().num_elements(), 0)}; }

Outputs Filled(const ConstCall& call) {
  if (call.has(1) && call.values(1).empty()) return {};
  const double value = call.has(1) ? call.values(1)[0] : InTypeOfTensors(call).Double("value");
  return {Values(call.out().num_elements(), value)};
}

}  // namespace cobra::graph::const_rules
