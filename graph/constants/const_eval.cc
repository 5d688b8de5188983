#include "graph/constants/const_eval.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "graph/constants/const_rules.h"

namespace cobra::graph {

const_rules::Outputs const_rules::None(const ConstCall&) { return {}; }

namespace {

// Rounds to `bits` bits after the leading one, ties to even. Below the smallest normal number the
// step stays constant.
double RoundBits(double value, int bits, int smallest_exponent) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent;
  std::frexp(value, &exponent);
  const double step = std::ldexp(1.0, std::max(exponent - 1, smallest_exponent) - bits);
  return std::nearbyint(value / step) * step;
}

// Wraps around as a cast in C++ does (two's complement). What no integer holds becomes what x86
// makes of it.
double Wrapped(double value, int bits, bool is_signed) {
  value = std::trunc(value);
  const double modulus = std::ldexp(1.0, bits), low = is_signed ? -modulus / 2 : 0;
  if (value >= low && value < low + modulus) return value;
  if (!(std::fabs(value) < std::ldexp(1.0, 63))) return bits < 32 ? 0 : low;
  const double rest = std::fmod(value, modulus);
  return rest < low ? rest + modulus : rest >= low + modulus ? rest - modulus : rest;
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
    case DType::int64: return Wrapped(value, 64, true);
    default: return std::trunc(value);
  }
}

bool IsExactInteger(double value) {
  return std::fabs(value) < std::ldexp(1.0, 53) || std::fabs(value) == std::ldexp(1.0, 63);
}

bool const_rules::IsCertain(Op op, DType dtype, double value) {
  if (dtype != DType::int64 || IsExactInteger(value)) return true;
  constexpr ConstRule kComputing[] = {BitwiseNot, Binary,       Diff,      Einsum, Kron,
                                      Product,    ProductAdded, Reduction, Scan,   Unary};
  return std::find(std::begin(kComputing), std::end(kComputing), ConstRulesOf(op).real) == std::end(kComputing);
}

std::vector<std::shared_ptr<const std::vector<double>>> EvalConst(Op op, const Attributes& attributes,
                                                                  absl::Span<const ConstInput> inputs,
                                                                  const TensorTypes& outputs, int64_t max_elements) {
  std::vector<std::shared_ptr<const std::vector<double>>> result(outputs.size());
  const const_rules::ConstRules& rules = const_rules::ConstRulesOf(op);
  if (outputs.empty() || inputs.empty()) return result;
  // The first of two operands may be a number (2 ** x).
  if (inputs[0].type == nullptr && rules.real != const_rules::Binary) return result;
  bool complex = false;
  for (const TensorType& type : outputs) {
    if (type.num_elements() > max_elements) return result;
    complex = complex || IsComplex(type.dtype);
  }
  for (const ConstInput& input : inputs) complex = complex || (input.type != nullptr && IsComplex(input.type->dtype));
  const_rules::Outputs values = (complex ? rules.complex : rules.real)(ConstCall{op, attributes, inputs, outputs});
  for (size_t i = 0; i < values.size() && i < outputs.size(); ++i) {
    const int64_t numbers = outputs[i].num_elements() * (IsComplex(outputs[i].dtype) ? 2 : 1);
    if (!values[i] || static_cast<int64_t>(values[i]->size()) != numbers) continue;
    for (double& v : *values[i]) v = RoundTo(outputs[i].dtype, v);
    const auto is_certain = [&](double v) { return const_rules::IsCertain(op, outputs[i].dtype, v); };
    if (!std::all_of(values[i]->begin(), values[i]->end(), is_certain)) continue;
    result[i] = std::make_shared<const std::vector<double>>(std::move(*values[i]));
  }
  return result;
}

}  // namespace cobra::graph
