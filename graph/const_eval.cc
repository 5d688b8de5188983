#include "graph/const_eval.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "graph/const_eval_internal.h"
#include "graph/getitem.h"

namespace cobra::graph {
namespace {

using namespace const_eval;  // NOLINT: the other half of this file

double PythonMod(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// As CPython's and c10's div_floor: through the remainder.
double FloorDivide(double a, double b) {
  if (b == 0) return a / b;
  double quotient = (a - std::fmod(a, b)) / b;
  if (std::fmod(a, b) != 0 && (b < 0) != (std::fmod(a, b) < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0, a / b);
  const double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}

using Unary = double (*)(double);
Unary UnaryFunction(Op op) {
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

using Binary = double (*)(double, double);
Binary BinaryFunction(Op op) {
  switch (op) {
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
    case Op::maximum:
    case Op::max: return [](double a, double b) { return std::max(a, b); };
    case Op::minimum:
    case Op::min: return [](double a, double b) { return std::min(a, b); };
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

// One operand of an elementwise call: a tensor, or the number that stands for it.
struct Operand {
  Values number;
  const Values* values = nullptr;
  Shape shape;
};

std::optional<Operand> OperandAt(Inputs inputs, size_t i, const Attributes& attributes, absl::string_view name) {
  Operand operand;
  if (i < inputs.size() && inputs[i].type != nullptr) {
    operand.values = inputs[i].values;
    operand.shape = inputs[i].type->shape;
    return operand;
  }
  if (attributes.Find(name) == nullptr) return std::nullopt;
  operand.number = {attributes.Double(name)};
  return operand;
}

template <typename F>
Values Elementwise(const Shape& out, std::vector<Operand> operands, F f) {
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
  return values;
}

// A Python number takes part as a number of the tensors' type.
Attributes InTypeOf(const Attributes& attributes, Inputs inputs, const TensorType& out) {
  DType dtype = out.dtype;
  if (dtype == DType::bool_) {  // a comparison: of what the operands are promoted to
    for (const ConstInput& input : inputs) {
      if (input.type != nullptr) dtype = input.type->dtype;
    }
  }
  if (!IsFloatingPoint(dtype) || dtype == DType::float64) return attributes;
  Attributes rounded = attributes;
  for (const auto& [name, value] : attributes) {
    const auto* number = std::get_if<double>(&value);
    if (number != nullptr && name != "alpha") rounded.Set(name, RoundTo(dtype, *number));
  }
  return rounded;
}

std::optional<Values> EvalElementwise(Op op, const Attributes& given, Inputs inputs, const TensorType& out) {
  const Attributes attributes = InTypeOf(given, inputs, out);
  if (Unary f = UnaryFunction(op); f != nullptr && inputs.size() >= 1) {
    Values values;
    for (double x : *inputs[0].values) values.push_back(f(x));
    return values;
  }
  if (op == Op::bitwise_not) {
    Values values;
    const bool logical = out.dtype == DType::bool_;
    for (double x : *inputs[0].values) values.push_back(logical ? (x == 0 ? 1.0 : 0.0) : double(~int64_t(x)));
    return values;
  }
  const absl::string_view second = op == Op::pow ? "exponent" : "other";
  if (op == Op::add || op == Op::sub || BinaryFunction(op) != nullptr) {
    std::optional<Operand> a = OperandAt(inputs, 0, attributes, "input");
    std::optional<Operand> b = OperandAt(inputs, 1, attributes, second);
    if (!a || !b) return std::nullopt;
    // Operands take part in the type of the result: -1 is 255 among bytes.
    Values narrow_a, narrow_b;
    if (IsIntegral(out.dtype) && out.dtype != DType::int64) {
      for (auto [operand, narrow] : {std::make_pair(&*a, &narrow_a), std::make_pair(&*b, &narrow_b)}) {
        for (double v : operand->values == nullptr ? operand->number : *operand->values)
          narrow->push_back(RoundTo(out.dtype, v));
        operand->values = narrow;
      }
    }
    const double alpha = attributes.Double("alpha", 1);
    if (op == Op::add)
      return Elementwise(out.shape, {*a, *b}, [alpha](const double* x) { return x[0] + alpha * x[1]; });
    if (op == Op::sub)
      return Elementwise(out.shape, {*a, *b}, [alpha](const double* x) { return x[0] - alpha * x[1]; });
    const std::string rounding = attributes.String("rounding_mode");
    if (rounding == "floor")
      return Elementwise(out.shape, {*a, *b}, [](const double* x) { return FloorDivide(x[0], x[1]); });
    if (rounding == "trunc")
      return Elementwise(out.shape, {*a, *b}, [](const double* x) { return std::trunc(x[0] / x[1]); });
    const Binary f = BinaryFunction(op);
    return Elementwise(out.shape, {*a, *b}, [f](const double* x) { return f(x[0], x[1]); });
  }
  switch (op) {
    case Op::where:
    case Op::masked_fill: {
      const bool where = op == Op::where;
      std::optional<Operand> condition = OperandAt(inputs, where ? 0 : 1, attributes, "");
      std::optional<Operand> yes =
          where ? OperandAt(inputs, 1, attributes, "input") : OperandAt(inputs, 2, attributes, "value");
      std::optional<Operand> no =
          where ? OperandAt(inputs, 2, attributes, "other") : OperandAt(inputs, 0, attributes, "");
      if (!condition || !yes || !no) return std::nullopt;
      return Elementwise(out.shape, {*condition, *yes, *no}, [](const double* x) { return x[0] != 0 ? x[1] : x[2]; });
    }
    case Op::lerp: {
      std::optional<Operand> a = OperandAt(inputs, 0, attributes, ""), b = OperandAt(inputs, 1, attributes, "");
      std::optional<Operand> weight = OperandAt(inputs, 2, attributes, "weight");
      if (!a || !b || !weight) return std::nullopt;
      return Elementwise(out.shape, {*a, *b, *weight}, [](const double* x) {
        return std::fabs(x[2]) < 0.5 ? x[0] + x[2] * (x[1] - x[0]) : x[1] - (x[1] - x[0]) * (1 - x[2]);
      });
    }
    case Op::addcmul:
    case Op::addcdiv: {
      std::optional<Operand> a = OperandAt(inputs, 0, attributes, ""), b = OperandAt(inputs, 1, attributes, "");
      std::optional<Operand> c = OperandAt(inputs, 2, attributes, "");
      if (!a || !b || !c) return std::nullopt;
      const double value = attributes.Double("value", 1);
      const bool divides = op == Op::addcdiv;
      return Elementwise(out.shape, {*a, *b, *c},
                         [=](const double* x) { return x[0] + value * (divides ? x[1] / x[2] : x[1] * x[2]); });
    }
    case Op::clamp:
    case Op::clamp_min:
    case Op::clamp_max: {
      if (inputs.size() > 1 && (inputs[1].type != nullptr || (inputs.size() > 2 && inputs[2].type != nullptr)))
        return std::nullopt;
      const double low = attributes.Double("min", -INFINITY), high = attributes.Double("max", INFINITY);
      Values values;
      for (double x : *inputs[0].values) values.push_back(std::min(std::max(x, low), high));
      return values;
    }
    case Op::to:
    case Op::type:
    case Op::type_as:
    case Op::float_:
    case Op::half:
    case Op::bfloat16:
    case Op::double_:
    case Op::long_:
    case Op::int_:
    case Op::bool_:
    case Op::byte:
    case Op::char_:
    case Op::short_:
    case Op::clone:
    case Op::contiguous:
    case Op::detach:
    case Op::data:
    case Op::alias:
    case Op::positive:
    case Op::view:
    case Op::reshape:
    case Op::view_as:
    case Op::reshape_as:
    case Op::flatten:
    case Op::unflatten:
    case Op::ravel:
    case Op::squeeze:
    case Op::unsqueeze: return *inputs[0].values;
    case Op::copy: return Gathered(*inputs[1].values, out.shape, BroadcastStrides(inputs[1].type->shape, out.shape));
    case Op::zero: return Values(out.num_elements(), 0);
    case Op::fill:
      return Values(out.num_elements(), inputs.size() > 1 && inputs[1].type != nullptr ? (*inputs[1].values)[0]
                                                                                       : attributes.Double("value"));
    default: return std::nullopt;
  }
}

// ---- reductions

struct Grouping {
  Shape kept, reduced;
  Strides kept_strides, reduced_strides;
};

Grouping GroupBy(const Shape& shape, const Attributes& attributes) {
  const std::vector<int64_t> dims = attributes.Ints("dim");
  const Strides strides = ContiguousStrides(shape);
  Grouping g;
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    bool reduced = dims.empty();
    for (int64_t d : dims) reduced = reduced || Wrap(d, static_cast<int>(shape.size())) == i;
    (reduced ? g.reduced : g.kept).push_back(shape[i]);
    (reduced ? g.reduced_strides : g.kept_strides).push_back(strides[i]);
  }
  return g;
}

std::optional<double> ReduceGroup(Op op, const Values& x, const Attributes& attributes) {
  const double n = static_cast<double>(x.size());
  const double sum = std::accumulate(x.begin(), x.end(), 0.0);
  switch (op) {
    case Op::sum: return sum;
    case Op::mean: return sum / n;
    case Op::prod: return std::accumulate(x.begin(), x.end(), 1.0, std::multiplies<double>());
    case Op::max:
    case Op::amax: return x.empty() ? std::nullopt : std::optional<double>(*std::max_element(x.begin(), x.end()));
    case Op::min:
    case Op::amin: return x.empty() ? std::nullopt : std::optional<double>(*std::min_element(x.begin(), x.end()));
    case Op::argmax: return static_cast<double>(std::max_element(x.begin(), x.end()) - x.begin());
    case Op::argmin: return static_cast<double>(std::min_element(x.begin(), x.end()) - x.begin());
    case Op::any: return std::any_of(x.begin(), x.end(), [](double v) { return v != 0; }) ? 1.0 : 0.0;
    case Op::all: return std::all_of(x.begin(), x.end(), [](double v) { return v != 0; }) ? 1.0 : 0.0;
    case Op::count_nonzero: return n - static_cast<double>(std::count(x.begin(), x.end(), 0.0));
    case Op::logsumexp: {
      if (x.empty()) return std::nullopt;
      const double largest = *std::max_element(x.begin(), x.end());
      double total = 0;
      for (double v : x) total += std::exp(v - largest);
      return largest + std::log(total);
    }
    case Op::norm:
    case Op::linalg_vector_norm: {
      const double p = attributes.Double(op == Op::norm ? "p" : "ord", 2);
      double result = p == -INFINITY ? INFINITY : 0;
      for (double v : x) {
        const double a = std::fabs(v);
        result = p == INFINITY    ? std::max(result, a)
                 : p == -INFINITY ? std::min(result, a)
                                  : result + (p == 0 ? a != 0 : std::pow(a, p));
      }
      return std::isinf(p) || p == 0 ? result : std::pow(result, 1 / p);
    }
    case Op::var:
    case Op::std: {
      double squares = 0;
      for (double v : x) squares += (v - sum / n) * (v - sum / n);
      const double variance =
          squares / (n - attributes.Double("correction", attributes.Bool("unbiased", true) ? 1 : 0));
      return op == Op::var ? variance : std::sqrt(variance);
    }
    default: return std::nullopt;
  }
}

bool IsReduction(Op op) { return ReduceGroup(op, {1.0}, {}).has_value(); }

std::vector<std::optional<Values>> EvalReduction(Op op, const Attributes& attributes, Inputs inputs, size_t outputs) {
  const Grouping g = GroupBy(inputs[0].type->shape, attributes);
  Values values, indices;
  bool known = true;
  ForEach(g.kept, {g.kept_strides}, [&](int64_t, const std::vector<int64_t>& at) {
    const int64_t start = at[0];
    Values group = Gathered(*inputs[0].values, g.reduced, g.reduced_strides, start);
    const std::optional<double> value = ReduceGroup(op, group, attributes);
    known = known && value.has_value();
    values.push_back(value.value_or(0));
    if (outputs > 1)
      indices.push_back(ReduceGroup(op == Op::max ? Op::argmax : Op::argmin, group, attributes).value_or(0));
  });
  if (!known) return {};
  return {values, indices};
}

std::vector<std::optional<Values>> EvalMeshgrid(const Attributes& attributes, Inputs inputs, const Shape& out) {
  const bool xy = attributes.String("indexing", "ij") == "xy" && inputs.size() >= 2;
  std::vector<std::optional<Values>> grids;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Strides strides(out.size(), 0);
    strides[xy && i < 2 ? 1 - i : i] = 1;
    grids.push_back(Gathered(*inputs[i].values, out, strides));
  }
  return grids;
}

}  // namespace

ConstOutputs const_eval::EvalReal(Op op, const Attributes& attributes, Inputs inputs,
                                  const std::vector<TensorType>& outputs) {
  const TensorType& out = outputs[0];
  const bool one_input = inputs.size() == 1 || (inputs.size() == 2 && inputs[1].type == nullptr);
  if (auto selected = EvalSelected(op, attributes, inputs, outputs)) {
    return std::vector<std::optional<Values>>(selected->begin(), selected->end());
  }
  switch (op) {
    case Op::chunk:
    case Op::split:
    case Op::tensor_split:
    case Op::split_with_sizes:
    case Op::hsplit:
    case Op::vsplit:
    case Op::dsplit:
    case Op::unbind:
    case Op::narrow:
    case Op::select: {
      std::vector<std::optional<Values>> result;
      for (Values& piece : EvalPieces(op, attributes, inputs[0], outputs)) result.push_back(std::move(piece));
      return result;
    }
    case Op::cat:
    case Op::stack: return {EvalJoin(op, attributes, inputs, out)};
    case Op::meshgrid: return EvalMeshgrid(attributes, inputs, out.shape);
    case Op::getitem: {
      const auto map = IndexMap(inputs[0].type->shape, attributes.String("index"), inputs.subspan(1), out.shape);
      if (!map) return {};
      Values values;
      for (int64_t at : *map) values.push_back((*inputs[0].values)[at]);
      return {values};
    }
    case Op::setitem: {
      const bool number = attributes.Find("value") != nullptr;
      const Inputs tensors = inputs.subspan(1, inputs.size() - (number ? 1 : 2));
      absl::StatusOr<IndexList> list = ParseIndex(attributes.String("index"));
      if (!list.ok()) return {};
      std::vector<const TensorType*> types;
      for (const ConstInput& tensor : tensors) types.push_back(tensor.type);
      absl::StatusOr<Shape> shape = IndexedShape(inputs[0].type->shape, *list, types);
      if (!shape.ok()) return {};
      const auto map = IndexMap(inputs[0].type->shape, attributes.String("index"), tensors, *shape);
      if (!map) return {};
      Values values = *inputs[0].values;
      Values written(map->size(), attributes.Double("value"));
      if (!number) {
        Shape from = inputs.back().type->shape;
        while (from.size() > shape->size() && from.front() == 1) from.erase(from.begin());
        if (from.size() > shape->size()) return {};
        written = Gathered(*inputs.back().values, *shape, BroadcastStrides(from, *shape));
      }
      for (size_t i = 0; i < map->size(); ++i) values[(*map)[i]] = written[i];
      return {values};
    }
    default: break;
  }
  if (one_input && IsReduction(op)) return EvalReduction(op, attributes, inputs, outputs.size());
  if (std::optional<Values> values = EvalElementwise(op, attributes, inputs, out)) return {values};
  if (std::optional<Strides> strides = MovedStrides(op, attributes, inputs[0].type->shape, out.shape)) {
    return {Gathered(*inputs[0].values, out.shape, *strides)};
  }
  return {EvalRearranged(op, attributes, inputs, out)};
}

namespace {

// To so many bits after the leading one, to even on a tie; below the smallest normal number the steps stay as wide.
double RoundBits(double value, int bits, int smallest_exponent) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent;
  std::frexp(value, &exponent);
  const double step = std::ldexp(1.0, std::max(exponent - 1, smallest_exponent) - bits);
  return std::nearbyint(value / step) * step;
}

// Two's complement, as a cast in C++ wraps.
double Wrapped(double value, int bits, bool is_signed) {
  value = std::trunc(value);
  const double modulus = std::ldexp(1.0, bits), low = is_signed ? -modulus / 2 : 0;
  if (!(std::fabs(value) < 9e15)) return value;
  if (value >= low && value < low + modulus) return value;
  return value - std::floor((value - low) / modulus) * modulus;
}

}  // namespace

double RoundTo(DType dtype, double value) {
  switch (dtype) {
    case DType::float32:
    case DType::complex64: return static_cast<float>(value);
    case DType::bfloat16: return RoundBits(static_cast<float>(value), 7, -126);
    case DType::float16: {
      const double rounded = RoundBits(static_cast<float>(value), 10, -14);
      return std::fabs(rounded) > 65504 ? std::copysign(INFINITY, rounded) : rounded;
    }
    case DType::bool_: return value != 0 ? 1 : 0;
    case DType::float64:
    case DType::complex128: return value;
    case DType::uint8: return Wrapped(value, 8, false);
    case DType::int8: return Wrapped(value, 8, true);
    case DType::int16: return Wrapped(value, 16, true);
    case DType::int32: return Wrapped(value, 32, true);
    default: return std::trunc(value);
  }
}

std::vector<std::shared_ptr<const Values>> EvalConst(Op op, const Attributes& attributes, Inputs inputs,
                                                     const std::vector<TensorType>& outputs, int64_t max_elements) {
  std::vector<std::shared_ptr<const Values>> result(outputs.size());
  if (outputs.empty() || inputs.empty() || (inputs[0].type == nullptr && op != Op::pow)) return result;
  bool complex = false;
  for (const TensorType& type : outputs) {
    if (type.num_elements() > max_elements) return result;
    complex = complex || IsComplex(type.dtype);
  }
  for (const ConstInput& input : inputs) complex = complex || (input.type != nullptr && IsComplex(input.type->dtype));
  ConstOutputs values =
      complex ? EvalComplex(op, attributes, inputs, outputs) : EvalReal(op, attributes, inputs, outputs);
  for (size_t i = 0; i < values.size() && i < outputs.size(); ++i) {
    const int64_t numbers = outputs[i].num_elements() * (IsComplex(outputs[i].dtype) ? 2 : 1);
    if (!values[i] || static_cast<int64_t>(values[i]->size()) != numbers) continue;
    for (double& v : *values[i]) v = RoundTo(outputs[i].dtype, v);
    result[i] = std::make_shared<const Values>(std::move(*values[i]));
  }
  return result;
}

}  // namespace cobra::graph
