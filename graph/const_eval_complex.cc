// Values of calls with complex tensors: rotary embeddings, spectra's filters, phases. A complex tensor has two numbers
// for each element, the real part first. Most calls do the same with either part; the others are written out here.
#include <cmath>
#include <complex>

#include "graph/const_eval_internal.h"

namespace cobra::graph::const_eval {
namespace {

using Complex = std::complex<double>;

struct Parts {
  Values real, imaginary;
};

Parts Split(const ConstInput& input) {
  Parts parts;
  if (input.values == nullptr) return parts;  // of what is overwritten as a whole
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

// Calls that treat both parts alike, as if each were a tensor of its own.
bool IsLinear(Op op) {
  switch (op) {
    case Op::add:
    case Op::sub:
    case Op::rsub:
    case Op::neg:
    case Op::sum:
    case Op::mean:
    case Op::cumsum:
    case Op::diff:
    case Op::cat:
    case Op::stack:
    case Op::hstack:
    case Op::vstack:
    case Op::where:
    case Op::masked_fill:
    case Op::setitem:
    case Op::index_select:
    case Op::gather:
    case Op::roll:
    case Op::flip:
    case Op::repeat:
    case Op::repeat_interleave:
    case Op::tile:
    case Op::pad:
    case Op::tril:
    case Op::triu:
    case Op::diag:
    case Op::clone:
    case Op::copy:
    case Op::zero:
    case Op::fill:
    case Op::to:
    case Op::type:
    case Op::type_as:
    case Op::cfloat:
    case Op::cdouble:
    case Op::float_:
    case Op::double_: return true;
    default: return GetOpInfo(op).cost_class == CostClass::kView;
  }
}

// A Python number is real: among imaginary parts it is 0.
Attributes OfImaginary(const Attributes& attributes) {
  Attributes result = attributes;
  for (absl::string_view name : {"other", "value", "input"}) {
    if (attributes.Find(name) != nullptr) result.Set(name, 0.0);
  }
  return result;
}

// An input that says where, and has no part in the arithmetic: an index, a mask.
bool IsSelector(Op op, size_t input, DType dtype) {
  switch (op) {
    case Op::where: return input == 0;
    case Op::masked_fill: return input == 1;
    case Op::getitem:
    case Op::setitem:
    case Op::index_select:
    case Op::gather:
    case Op::repeat_interleave: return input > 0 && (IsIntegral(dtype) || dtype == DType::bool_);
    default: return false;
  }
}

// The call on both parts, each as float64.
ConstOutputs EvalParts(Op op, const Attributes& attributes, Inputs inputs, const std::vector<TensorType>& outputs) {
  std::vector<TensorType> types;
  std::vector<Parts> parts;
  types.reserve(inputs.size());
  parts.reserve(inputs.size());
  std::vector<ConstInput> real, imaginary;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ConstInput& input = inputs[i];
    if (input.type == nullptr || IsSelector(op, i, input.type->dtype)) {
      real.push_back(input);
      imaginary.push_back(input);
      continue;
    }
    types.push_back({input.type->shape, DType::float64});
    parts.push_back(Split(input));
    real.push_back({&types.back(), &parts.back().real});
    imaginary.push_back({&types.back(), &parts.back().imaginary});
  }
  std::vector<TensorType> wide = outputs;
  for (TensorType& type : wide) type.dtype = DType::float64;
  ConstOutputs results = EvalReal(op, attributes, real, wide);
  if (!IsComplex(outputs[0].dtype)) return results;
  ConstOutputs second = EvalReal(op, OfImaginary(attributes), imaginary, wide);
  const bool conjugates = op == Op::H || op == Op::mH || op == Op::adjoint;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i] || i >= second.size() || !second[i] || second[i]->size() != results[i]->size()) return {};
    for (double& v : *second[i]) v = conjugates ? -v : v;
    results[i] = Join(*results[i], *second[i]);
  }
  return results;
}

// One complex number to one.
using Unary = Complex (*)(Complex);
Unary UnaryFunction(Op op) {
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

using Binary = Complex (*)(Complex, Complex);
Binary BinaryFunction(Op op) {
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

// f(element of the first, element of the second or the number), broadcast to `out`.
template <typename F>
std::optional<Values> Pairwise(const Attributes& attributes, absl::string_view number, Inputs inputs,
                               const TensorType& out, F f) {
  Parts parts[2];
  std::vector<Strides> strides;
  for (size_t i = 0; i < 2; ++i) {
    if (i < inputs.size() && inputs[i].type != nullptr) {
      parts[i] = Split(inputs[i]);
      strides.push_back(BroadcastStrides(inputs[i].type->shape, out.shape));
      continue;
    }
    const AttributeValue* value = attributes.Find(i == 0 ? "input" : number);
    if (value == nullptr) return std::nullopt;
    parts[i] = {{attributes.Double(i == 0 ? "input" : number)}, {0}};
    strides.push_back(Strides(out.shape.size(), 0));
  }
  Values values;
  ForEach(out.shape, strides, [&](int64_t, const std::vector<int64_t>& at) {
    const Complex result = f(Complex(parts[0].real[at[0]], parts[0].imaginary[at[0]]),
                             Complex(parts[1].real[at[1]], parts[1].imaginary[at[1]]));
    values.push_back(result.real());
    if (IsComplex(out.dtype)) values.push_back(result.imag());
  });
  return values;
}

// A real number of each element.
template <typename F>
Values Measured(const Parts& parts, F f) {
  Values values;
  for (size_t i = 0; i < parts.real.size(); ++i) values.push_back(f(parts.real[i], parts.imaginary[i]));
  return values;
}

}  // namespace

ConstOutputs EvalComplex(Op op, const Attributes& attributes, Inputs inputs, const std::vector<TensorType>& outputs) {
  const TensorType& out = outputs[0];
  switch (op) {
    case Op::view_as_real:
    case Op::view_as_complex: return {*inputs[0].values};
    case Op::real: return {Split(inputs[0]).real};
    case Op::imag: return {Split(inputs[0]).imaginary};
    case Op::complex:
      return {Pairwise(attributes, "", inputs, out, [](Complex a, Complex b) { return Complex(a.real(), b.real()); })};
    case Op::polar: {
      const DType part = inputs[0].type->dtype;
      return {Pairwise(attributes, "", inputs, out, [part](Complex a, Complex b) {
        return Complex(a.real() * RoundTo(part, std::cos(b.real())), a.real() * RoundTo(part, std::sin(b.real())));
      })};
    }
    case Op::abs: return {Measured(Split(inputs[0]), [](double x, double y) { return std::hypot(x, y); })};
    case Op::angle: return {Measured(Split(inputs[0]), [](double x, double y) { return std::atan2(y, x); })};
    case Op::conj: break;
    case Op::resolve_conj: return {*inputs[0].values};
    default:
      if (IsLinear(op)) return EvalParts(op, attributes, inputs, outputs);
  }
  if (const Unary f = UnaryFunction(op)) {
    const Parts parts = Split(inputs[0]);
    Values values;
    for (size_t i = 0; i < parts.real.size(); ++i) {
      const Complex z = f(Complex(parts.real[i], parts.imaginary[i]));
      values.push_back(z.real());
      values.push_back(z.imag());
    }
    return {values};
  }
  if (op == Op::mul && out.dtype == DType::complex64) {  // PyTorch rounds each product
    return {Pairwise(attributes, "other", inputs, out, [](Complex a, Complex b) {
      const auto product = [](double x, double y) { return static_cast<float>(x * y); };
      return Complex(product(a.real(), b.real()) - product(a.imag(), b.imag()),
                     product(a.real(), b.imag()) + product(a.imag(), b.real()));
    })};
  }
  if (const Binary f = BinaryFunction(op))
    return {Pairwise(attributes, op == Op::pow ? "exponent" : "other", inputs, out, f)};
  return {};
}

}  // namespace cobra::graph::const_eval
