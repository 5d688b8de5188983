// Values of calls with complex tensors: rotary embeddings, filters of spectra, phases. Most calls
// treat the real and the imaginary parts alike; the others are written out here.
#include <cmath>
#include <complex>
#include <utility>

#include "graph/constants/const_rules.h"
#include "graph/op_table.h"

namespace cobra::graph::const_rules {
namespace {

using Complex = std::complex<double>;

struct PartsOfTensor {
  Values real, imaginary;
};

PartsOfTensor Split(const ConstInput& input) {
  PartsOfTensor parts;
  if (input.values == nullptr) return parts;  // the call overwrites all of it
  if (!IsComplex(input.type->dtype)) {
    parts.real = *input.values;
    parts.imaginary.assign(parts.real.size(), 0);
    return parts;
  }
  for (size_t i = 0; i + 1 < input.values->size(); i += 2) {
    parts.real.push_back((*input.values)[i]);
    parts.imaginary.push_back((*input.values)[i + 1]);
  }
  return parts;
}

Values Join(const Values& real, const Values& imaginary) {
  Values joined;
  joined.reserve(2 * real.size());
  for (size_t i = 0; i < real.size(); ++i) {
    joined.push_back(real[i]);
    joined.push_back(imaginary[i]);
  }
  return joined;
}

// A Python number is real: for the imaginary parts it becomes 0.
Attributes OfImaginary(const Attributes& attributes) {
  Attributes result = attributes;
  for (absl::string_view name : {"other", "value", "input"}) {
    if (attributes.Find(name) != nullptr) result.Set(name, 0.0);
  }
  return result;
}

// Whether the input only selects elements (an index, a mask) and takes no part in the arithmetic.
bool IsSelector(const ConstCall& call, size_t i) {
  const DType dtype = call.type(i).dtype;
  return GetOpInfo(call.op).input(i).selects != Selects::kNothing && (IsIntegral(dtype) || dtype == DType::bool_);
}

// Evaluates the call on both parts, each as float64.
Outputs EvalParts(const ConstCall& call, bool conjugates) {
  TensorTypes types;
  std::vector<PartsOfTensor> parts;
  types.reserve(call.inputs.size());
  parts.reserve(call.inputs.size());
  std::vector<ConstInput> real, imaginary;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const ConstInput& input = call.inputs[i];
    if (input.type == nullptr || IsSelector(call, i)) {
      real.push_back(input);
      imaginary.push_back(input);
      continue;
    }
    types.push_back({input.type->shape, DType::float64});
    parts.push_back(Split(input));
    real.push_back({&types.back(), &parts.back().real});
    imaginary.push_back({&types.back(), &parts.back().imaginary});
  }
  TensorTypes wide = call.outputs;
  for (TensorType& type : wide) type.dtype = DType::float64;
  const ConstRule rule = ConstRulesOf(call.op).real;
  Outputs results = rule(ConstCall{call.op, call.attributes, real, wide});
  if (!IsComplex(call.out().dtype)) return results;
  const Attributes of_imaginary = OfImaginary(call.attributes);
  Outputs second = rule(ConstCall{call.op, of_imaginary, imaginary, wide});
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i] || i >= second.size() || !second[i] || second[i]->size() != results[i]->size()) return {};
    for (double& v : *second[i]) v = conjugates ? -v : v;
    results[i] = Join(*results[i], *second[i]);
  }
  return results;
}

// Maps one complex number to one complex number.
using UnaryFn = Complex (*)(Complex);
constexpr UnaryFn UnaryFunction(Op op) {
  switch (op) {
    case Op::conj:
    case Op::conj_physical: return [](Complex z) { return std::conj(z); };
    case Op::exp: return [](Complex z) { return std::exp(z); };
    case Op::log: return [](Complex z) { return std::log(z); };
    case Op::sqrt: return [](Complex z) { return std::sqrt(z); };
    case Op::reciprocal: return [](Complex z) { return 1.0 / z; };
    case Op::square: return [](Complex z) { return z * z; };
    case Op::sin: return [](Complex z) { return std::sin(z); };
    case Op::cos: return [](Complex z) { return std::cos(z); };
    case Op::tanh: return [](Complex z) { return std::tanh(z); };
    default: return nullptr;
  }
}

using BinaryFn = Complex (*)(Complex, Complex);
constexpr BinaryFn BinaryFunction(Op op) {
  switch (op) {
    case Op::mul: return [](Complex a, Complex b) { return a * b; };
    case Op::div: return [](Complex a, Complex b) { return a / b; };
    case Op::rdiv: return [](Complex a, Complex b) { return b / a; };
    case Op::pow: return [](Complex a, Complex b) { return std::pow(a, b); };
    case Op::rpow: return [](Complex a, Complex b) { return std::pow(b, a); };
    case Op::eq: return [](Complex a, Complex b) { return Complex(a == b ? 1 : 0); };
    case Op::ne: return [](Complex a, Complex b) { return Complex(a != b ? 1 : 0); };
    default: return nullptr;
  }
}

// Exactly the operators that have a function here use ComplexUnary and ComplexBinary. Parts and
// ConjugatedParts need a rule for real tensors too.
constexpr bool HasItsFunction(Op op) {
  const ConstRules& rules = ConstRulesOf(op);
  return (rules.complex == ComplexUnary) == (UnaryFunction(op) != nullptr) &&
         (rules.complex == ComplexBinary) == (BinaryFunction(op) != nullptr) &&
         !((rules.complex == Parts || rules.complex == ConjugatedParts) && rules.real == None);
}
COBRA_CHECK_EVERY_OP(HasItsFunction);

// f(element of the first, element of the second or the number), broadcast to the output.
template <typename F>
Outputs Pairwise(const ConstCall& call, absl::string_view number, F f) {
  PartsOfTensor parts[2];
  std::vector<Strides> strides;
  const TensorType& out = call.out();
  for (size_t i = 0; i < 2; ++i) {
    if (call.has(i)) {
      parts[i] = Split(call.inputs[i]);
      strides.push_back(BroadcastStrides(call.type(i).shape, out.shape));
      continue;
    }
    const absl::string_view name = i == 0 ? "input" : number;
    if (call.attributes.Find(name) == nullptr) return {};
    parts[i] = {{call.attributes.Double(name)}, {0}};
    strides.push_back(Strides(out.shape.size(), 0));
  }
  Values values;
  ForEach(out.shape, strides, [&](int64_t, const std::vector<int64_t>& at) {
    const Complex result = f(Complex(parts[0].real[at[0]], parts[0].imaginary[at[0]]),
                             Complex(parts[1].real[at[1]], parts[1].imaginary[at[1]]));
    values.push_back(result.real());
    if (IsComplex(out.dtype)) values.push_back(result.imag());
  });
  return {values};
}

// Computes one real number for each element.
template <typename F>
Outputs RealOfEach(const ConstCall& call, F f) {
  const PartsOfTensor parts = Split(call.inputs[0]);
  Values values;
  for (size_t i = 0; i < parts.real.size(); ++i) values.push_back(f(parts.real[i], parts.imaginary[i]));
  return {values};
}

}  // namespace

Outputs Parts(const ConstCall& call) { return EvalParts(call, /*conjugates=*/false); }
Outputs ConjugatedParts(const ConstCall& call) { return EvalParts(call, /*conjugates=*/true); }

// view_as_real, view_as_complex: the stored pairs of numbers stay the same.
Outputs SameNumbers(const ConstCall& call) { return {call.values(0)}; }
Outputs RealPart(const ConstCall& call) { return {Split(call.inputs[0]).real}; }
Outputs ImaginaryPart(const ConstCall& call) { return {Split(call.inputs[0]).imaginary}; }

Outputs FromParts(const ConstCall& call) {
  return Pairwise(call, "", [](Complex a, Complex b) { return Complex(a.real(), b.real()); });
}

Outputs Polar(const ConstCall& call) {
  const DType part = call.type(0).dtype;
  return Pairwise(call, "", [part](Complex a, Complex b) {
    return Complex(a.real() * RoundTo(part, std::cos(b.real())), a.real() * RoundTo(part, std::sin(b.real())));
  });
}

Outputs Magnitude(const ConstCall& call) {
  return RealOfEach(call, [](double x, double y) { return std::hypot(x, y); });
}

Outputs Phase(const ConstCall& call) {
  return RealOfEach(call, [](double x, double y) { return std::atan2(y, x); });
}

Outputs ComplexUnary(const ConstCall& call) {
  const UnaryFn function = UnaryFunction(call.op);
  const PartsOfTensor parts = Split(call.inputs[0]);
  Values values;
  for (size_t i = 0; i < parts.real.size(); ++i) {
    const Complex z = function(Complex(parts.real[i], parts.imaginary[i]));
    values.push_back(z.real());
    values.push_back(z.imag());
  }
  return {values};
}

Outputs ComplexBinary(const ConstCall& call) {
  if (call.op == Op::mul && call.out().dtype == DType::complex64) {  // PyTorch rounds each product
    return Pairwise(call, "other", [](Complex a, Complex b) {
      const auto product = [](double x, double y) { return static_cast<float>(x * y); };
      return Complex(product(a.real(), b.real()) - product(a.imag(), b.imag()),
                     product(a.real(), b.imag()) + product(a.imag(), b.real()));
    });
  }
  return Pairwise(call, call.op == Op::pow ? "exponent" : "other", BinaryFunction(call.op));
}

}  // namespace cobra::graph::const_rules
