#include "frontend/python/torch/const_eval.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "graph/getitem.h"
#include "graph/layout.h"

namespace cobra::python {
namespace {

using Values = std::vector<double>;
using Inputs = absl::Span<const ConstInput>;

// Steps of a multi-index over `shape` in row-major order, with an offset for each of several stride sets.
template <typename F>
void ForEach(const Shape& shape, const std::vector<Strides>& strides, F visit) {
  int64_t total = 1;
  for (int64_t d : shape) total *= d;
  Shape index(shape.size(), 0);
  std::vector<int64_t> offsets(strides.size(), 0);
  for (int64_t n = 0; n < total; ++n) {
    visit(n, offsets);
    for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
      for (size_t s = 0; s < strides.size(); ++s) offsets[s] += strides[s][d];
      if (++index[d] < shape[d]) break;
      for (size_t s = 0; s < strides.size(); ++s) offsets[s] -= strides[s][d] * shape[d];
      index[d] = 0;
    }
  }
}

// Strides of `shape` broadcast to `out`.
Strides BroadcastStrides(const Shape& shape, const Shape& out) {
  const Strides own = ContiguousStrides(shape);
  Strides strides(out.size(), 0);
  const size_t lead = out.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) strides[lead + i] = shape[i] == 1 ? 0 : own[i];
  return strides;
}

Values Gathered(const Values& from, const Shape& out, const Strides& strides, int64_t start = 0) {
  Values values;
  values.reserve(from.size());
  ForEach(out, {strides}, [&](int64_t, const std::vector<int64_t>& at) { values.push_back(from[start + at[0]]); });
  return values;
}

int Wrap(int64_t dim, int rank) { return static_cast<int>(dim < 0 ? dim + std::max(rank, 1) : dim); }

double PythonMod(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
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
    case Op::floor_divide: return [](double a, double b) { return std::floor(a / b); };
    case Op::rfloor_divide: return [](double a, double b) { return std::floor(b / a); };
    case Op::remainder: return PythonMod;
    case Op::fmod: return [](double a, double b) { return std::fmod(a, b); };
    case Op::pow: return [](double a, double b) { return std::pow(a, b); };
    case Op::rpow: return [](double a, double b) { return std::pow(b, a); };
    case Op::maximum: case Op::max: return [](double a, double b) { return std::max(a, b); };
    case Op::minimum: case Op::min: return [](double a, double b) { return std::min(a, b); };
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

std::optional<Values> EvalElementwise(Op op, const Attributes& attributes, Inputs inputs, const TensorType& out) {
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
    const double alpha = attributes.Double("alpha", 1);
    if (op == Op::add) return Elementwise(out.shape, {*a, *b}, [alpha](const double* x) { return x[0] + alpha * x[1]; });
    if (op == Op::sub) return Elementwise(out.shape, {*a, *b}, [alpha](const double* x) { return x[0] - alpha * x[1]; });
    const std::string rounding = attributes.String("rounding_mode");
    if (rounding == "floor") return Elementwise(out.shape, {*a, *b}, [](const double* x) { return std::floor(x[0] / x[1]); });
    if (rounding == "trunc") return Elementwise(out.shape, {*a, *b}, [](const double* x) { return std::trunc(x[0] / x[1]); });
    const Binary f = BinaryFunction(op);
    return Elementwise(out.shape, {*a, *b}, [f](const double* x) { return f(x[0], x[1]); });
  }
  switch (op) {
    case Op::where:
    case Op::masked_fill: {
      const bool where = op == Op::where;
      std::optional<Operand> condition = OperandAt(inputs, where ? 0 : 1, attributes, "");
      std::optional<Operand> yes = where ? OperandAt(inputs, 1, attributes, "input") : OperandAt(inputs, 2, attributes, "value");
      std::optional<Operand> no = where ? OperandAt(inputs, 2, attributes, "other") : OperandAt(inputs, 0, attributes, "");
      if (!condition || !yes || !no) return std::nullopt;
      return Elementwise(out.shape, {*condition, *yes, *no}, [](const double* x) { return x[0] != 0 ? x[1] : x[2]; });
    }
    case Op::clamp:
    case Op::clamp_min:
    case Op::clamp_max: {
      if (inputs.size() > 1 && (inputs[1].type != nullptr || (inputs.size() > 2 && inputs[2].type != nullptr))) return std::nullopt;
      const double low = attributes.Double("min", -INFINITY), high = attributes.Double("max", INFINITY);
      Values values;
      for (double x : *inputs[0].values) values.push_back(std::min(std::max(x, low), high));
      return values;
    }
    case Op::to: case Op::type: case Op::type_as: case Op::float_: case Op::half: case Op::bfloat16: case Op::double_:
    case Op::long_: case Op::int_: case Op::bool_: case Op::clone: case Op::contiguous: case Op::detach: case Op::data:
    case Op::alias: case Op::positive: case Op::view: case Op::reshape: case Op::view_as: case Op::reshape_as: case Op::flatten:
    case Op::unflatten: case Op::ravel: case Op::squeeze: case Op::unsqueeze:
      return *inputs[0].values;
    case Op::copy:
      return Gathered(*inputs[1].values, out.shape, BroadcastStrides(inputs[1].type->shape, out.shape));
    case Op::zero:
      return Values(out.num_elements(), 0);
    case Op::fill:
      return Values(out.num_elements(), inputs.size() > 1 && inputs[1].type != nullptr ? (*inputs[1].values)[0] : attributes.Double("value"));
    default:
      return std::nullopt;
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
    case Op::max: case Op::amax: return x.empty() ? std::nullopt : std::optional<double>(*std::max_element(x.begin(), x.end()));
    case Op::min: case Op::amin: return x.empty() ? std::nullopt : std::optional<double>(*std::min_element(x.begin(), x.end()));
    case Op::argmax: return static_cast<double>(std::max_element(x.begin(), x.end()) - x.begin());
    case Op::argmin: return static_cast<double>(std::min_element(x.begin(), x.end()) - x.begin());
    case Op::any: return std::any_of(x.begin(), x.end(), [](double v) { return v != 0; }) ? 1.0 : 0.0;
    case Op::all: return std::all_of(x.begin(), x.end(), [](double v) { return v != 0; }) ? 1.0 : 0.0;
    case Op::count_nonzero: return n - static_cast<double>(std::count(x.begin(), x.end(), 0.0));
    case Op::norm: {
      double squares = 0;
      for (double v : x) squares += v * v;
      return attributes.Double("p", 2) == 2 ? std::optional<double>(std::sqrt(squares)) : std::nullopt;
    }
    case Op::var: case Op::std: {
      double squares = 0;
      for (double v : x) squares += (v - sum / n) * (v - sum / n);
      const double variance = squares / (n - attributes.Double("correction", attributes.Bool("unbiased", true) ? 1 : 0));
      return op == Op::var ? variance : std::sqrt(variance);
    }
    default: return std::nullopt;
  }
}

bool IsReduction(Op op) {
  return ReduceGroup(op, {1.0}, {}).has_value();
}

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
    if (outputs > 1) indices.push_back(ReduceGroup(op == Op::max ? Op::argmax : Op::argmin, group, attributes).value_or(0));
  });
  if (!known) return {};
  return {values, indices};
}

// ---- moving elements

std::optional<Strides> MovedStrides(Op op, const Attributes& attributes, const Shape& in, const Shape& out) {
  const int rank = static_cast<int>(in.size());
  Strides strides = ContiguousStrides(in);
  switch (op) {
    case Op::permute: {
      Strides moved;
      for (int64_t d : attributes.Ints("dims")) moved.push_back(strides[Wrap(d, rank)]);
      return moved;
    }
    case Op::transpose:
      if (rank > 0) std::swap(strides[Wrap(attributes.Int("dim0"), rank)], strides[Wrap(attributes.Int("dim1"), rank)]);
      return strides;
    case Op::mT: case Op::mH: case Op::adjoint:
      std::swap(strides[rank - 1], strides[rank - 2]);
      return strides;
    case Op::t: case Op::T: case Op::H:
      return Strides(strides.rbegin(), strides.rend());
    case Op::expand: case Op::expand_as: case Op::broadcast_to:
      return BroadcastStrides(in, out);
    case Op::diagonal: {
      if (attributes.Int("offset") != 0) return std::nullopt;
      const int a = Wrap(attributes.Int("dim1", 0), rank), b = Wrap(attributes.Int("dim2", 1), rank);
      Strides moved;
      for (int i = 0; i < rank; ++i) {
        if (i != a && i != b) moved.push_back(strides[i]);
      }
      moved.push_back(strides[a] + strides[b]);
      return moved;
    }
    default:
      return std::nullopt;
  }
}

// Pieces along one dimension: chunk, split, unbind, narrow, select.
std::vector<Values> EvalPieces(Op op, const Attributes& attributes, const ConstInput& input, const std::vector<TensorType>& outputs) {
  const Shape& in = input.type->shape;
  const Strides strides = ContiguousStrides(in);
  const int dim = Wrap(attributes.Int("dim"), static_cast<int>(in.size()));
  const bool drops = op == Op::unbind || op == Op::select;
  int64_t at = op == Op::narrow ? attributes.Int("start") : op == Op::select ? attributes.Int("index") : 0;
  if (at < 0) at += in[dim];
  std::vector<Values> pieces;
  for (const TensorType& out : outputs) {
    Strides own = strides;
    if (drops) own.erase(own.begin() + dim);
    pieces.push_back(Gathered(*input.values, out.shape, own, at * strides[dim]));
    at += drops ? 1 : out.shape[dim];
  }
  return pieces;
}

Values EvalJoin(Op op, const Attributes& attributes, Inputs inputs, const TensorType& out) {
  Values values(out.num_elements());
  const Strides strides = ContiguousStrides(out.shape);
  const int dim = Wrap(attributes.Int("dim"), out.rank());
  int64_t at = 0;
  for (const ConstInput& input : inputs) {
    Shape shape = input.type->shape;
    if (op == Op::stack) shape.insert(shape.begin() + dim, 1);
    if (shape.size() != out.shape.size()) continue;  // the empty 1-D tensor that cat skips
    ForEach(shape, {strides}, [&](int64_t n, const std::vector<int64_t>& to) { values[at * strides[dim] + to[0]] = (*input.values)[n]; });
    at += shape[dim];
  }
  return values;
}

std::optional<Values> EvalRearranged(Op op, const Attributes& attributes, Inputs inputs, const TensorType& out) {
  const Shape& in = inputs[0].type->shape;
  const Values& x = *inputs[0].values;
  const int rank = static_cast<int>(in.size());
  const Strides strides = ContiguousStrides(in);
  Values values;
  const auto each = [&](auto source) {  // source(multi-index) -> element of x
    Shape index(out.shape.size(), 0);
    for (int64_t n = 0; n < out.num_elements(); ++n) {
      values.push_back(source(index));
      for (int d = out.rank() - 1; d >= 0; --d) {
        if (++index[d] < out.shape[d]) break;
        index[d] = 0;
      }
    }
    return std::optional<Values>(values);
  };
  const auto at = [&](const Shape& index) {
    int64_t offset = 0;
    for (int d = 0; d < rank; ++d) offset += index[d] * strides[d];
    return x[offset];
  };
  switch (op) {
    case Op::flip: {
      const std::vector<int64_t> dims = attributes.Ints("dims");
      return each([&](Shape index) {
        for (int64_t d : dims) index[Wrap(d, rank)] = in[Wrap(d, rank)] - 1 - index[Wrap(d, rank)];
        return at(index);
      });
    }
    case Op::roll: {
      const std::vector<int64_t> dims = attributes.Ints("dims"), shifts = attributes.Ints("shifts");
      if (dims.size() != shifts.size()) return std::nullopt;
      return each([&](Shape index) {
        for (size_t i = 0; i < dims.size(); ++i) {
          int64_t& v = index[Wrap(dims[i], rank)];
          const int64_t size = in[Wrap(dims[i], rank)];
          v = ((v - shifts[i]) % size + size) % size;
        }
        return at(index);
      });
    }
    case Op::repeat: case Op::tile: {
      const int lead = out.rank() - rank;
      return each([&](const Shape& index) {
        Shape own(rank);
        for (int d = 0; d < rank; ++d) own[d] = in[d] == 0 ? 0 : index[lead + d] % in[d];
        return at(own);
      });
    }
    case Op::repeat_interleave: {
      const int64_t repeats = attributes.Int("repeats", 1);
      if (attributes.Find("dim") == nullptr) return each([&](const Shape& index) { return x[index[0] / repeats]; });
      const int dim = Wrap(attributes.Int("dim"), rank);
      return each([&](Shape index) {
        index[dim] /= repeats;
        return at(index);
      });
    }
    case Op::triu: case Op::tril: {
      const int64_t diagonal = attributes.Int("diagonal");
      return each([&](const Shape& index) {
        const int64_t offset = index[rank - 1] - index[rank - 2] - diagonal;
        return (op == Op::triu ? offset >= 0 : offset <= 0) ? at(index) : 0.0;
      });
    }
    case Op::gather: case Op::index_select: {
      const int dim = Wrap(attributes.Int("dim"), rank);
      const Values& index_values = *inputs[1].values;
      const Strides index_strides = ContiguousStrides(inputs[1].type->shape);
      bool inside = true;
      each([&](Shape index) {
        int64_t offset = index[dim];
        if (op == Op::gather) {
          offset = 0;
          for (int d = 0; d < rank; ++d) offset += index[d] * index_strides[d];
        }
        index[dim] = static_cast<int64_t>(index_values[offset]);
        inside = inside && index[dim] >= 0 && index[dim] < in[dim];
        return inside ? at(index) : 0.0;
      });
      return inside ? std::optional<Values>(values) : std::nullopt;
    }
    case Op::cumsum: case Op::cumprod: {
      const int dim = Wrap(attributes.Int("dim"), rank);
      values = x;
      if (rank == 0) return values;
      for (int64_t n = 0; n < static_cast<int64_t>(values.size()); ++n) {
        if ((n / strides[dim]) % in[dim] == 0) continue;
        const double before = values[n - strides[dim]];
        values[n] = op == Op::cumsum ? before + values[n] : before * values[n];
      }
      return values;
    }
    case Op::matmul: case Op::mm: {
      if (rank != 2 || inputs[1].type->rank() != 2 || out.num_elements() * in[1] > kMaxConstElements) return std::nullopt;
      const int64_t inner = in[1], columns = out.shape[1];
      return each([&](const Shape& index) {
        double sum = 0;
        for (int64_t k = 0; k < inner; ++k) sum += x[index[0] * inner + k] * (*inputs[1].values)[k * columns + index[1]];
        return sum;
      });
    }
    case Op::outer:
      return each([&](const Shape& index) { return x[index[0]] * (*inputs[1].values)[index[1]]; });
    case Op::pad: {
      const std::vector<int64_t> pad = attributes.Ints("pad");
      if (attributes.String("mode", "constant") != "constant") return std::nullopt;
      return each([&](Shape index) {
        for (size_t i = 0; i < pad.size() / 2; ++i) index[rank - 1 - i] -= pad[2 * i];
        for (int d = 0; d < rank; ++d) {
          if (index[d] < 0 || index[d] >= in[d]) return attributes.Double("value", 0);
        }
        return at(index);
      });
    }
    default:
      return std::nullopt;
  }
}

std::vector<std::optional<Values>> EvalSort(Op op, const Attributes& attributes, Inputs inputs, const std::vector<TensorType>& outputs) {
  const Shape& in = inputs[0].type->shape;
  if (in.size() != 1) return {};
  const Values& x = *inputs[0].values;
  std::vector<int64_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  const bool descending = op == Op::topk ? attributes.Bool("largest", true) : attributes.Bool("descending");
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return descending ? x[a] > x[b] : x[a] < x[b]; });
  order.resize(outputs[0].num_elements());
  Values sorted, indices;
  for (int64_t i : order) {
    sorted.push_back(x[i]);
    indices.push_back(static_cast<double>(i));
  }
  if (op == Op::argsort) return {indices};
  return {sorted, indices};
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

std::vector<std::optional<Values>> Eval(Op op, const Attributes& attributes, Inputs inputs, const std::vector<TensorType>& outputs) {
  const TensorType& out = outputs[0];
  const bool one_input = inputs.size() == 1 || (inputs.size() == 2 && inputs[1].type == nullptr);
  switch (op) {
    case Op::chunk: case Op::split: case Op::tensor_split: case Op::unbind: case Op::narrow: case Op::select: {
      std::vector<std::optional<Values>> result;
      for (Values& piece : EvalPieces(op, attributes, inputs[0], outputs)) result.push_back(std::move(piece));
      return result;
    }
    case Op::cat: case Op::stack: return {EvalJoin(op, attributes, inputs, out)};
    case Op::sort: case Op::argsort: case Op::topk: return EvalSort(op, attributes, inputs, outputs);
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

}  // namespace

double RoundTo(DType dtype, double value) {
  switch (dtype) {
    case DType::float32: case DType::bfloat16: case DType::float16: return static_cast<float>(value);
    case DType::bool_: return value != 0 ? 1 : 0;
    case DType::float64: return value;
    default: return std::trunc(value);
  }
}

std::optional<std::vector<int64_t>> IndexMap(const Shape& shape, const std::string& index, Inputs tensors, const Shape& out) {
  absl::StatusOr<IndexList> items = ParseIndex(index);
  if (!items.ok()) return std::nullopt;
  const Strides strides = ContiguousStrides(shape);
  // Plain items give strides; advanced ones share dimensions of their own.
  Strides plain;
  int64_t start = 0;
  struct Advanced {
    const ConstInput* tensor;
    int64_t stride, size;
  };
  std::vector<Advanced> advanced;
  size_t dim = 0, consumed = 0, at = 0, position = 0, last = 0;
  bool apart = false;
  for (const IndexItem& item : *items) {
    consumed += item.kind == IndexItem::Kind::kInt || item.kind == IndexItem::Kind::kSlice || item.kind == IndexItem::Kind::kTensor;
  }
  if (consumed > shape.size()) return std::nullopt;
  for (const IndexItem& item : *items) {
    ++position;
    switch (item.kind) {
      case IndexItem::Kind::kNone: plain.push_back(0); break;
      case IndexItem::Kind::kInt: {
        start += (item.value < 0 ? item.value + shape[dim] : item.value) * strides[dim];
        ++dim;
        break;
      }
      case IndexItem::Kind::kSlice: {
        const int64_t from = item.start.value_or(0);
        start += std::clamp<int64_t>(from < 0 ? from + shape[dim] : from, 0, shape[dim]) * strides[dim];
        plain.push_back(item.step.value_or(1) * strides[dim]);
        ++dim;
        break;
      }
      case IndexItem::Kind::kEllipsis:
        for (size_t n = shape.size() - consumed; n > 0; --n) plain.push_back(strides[dim++]);
        break;
      case IndexItem::Kind::kTensor:
        if (tensors[item.value].type->dtype == DType::bool_) return std::nullopt;
        if (advanced.empty()) at = plain.size();
        apart = apart || (!advanced.empty() && last != position - 1);
        last = position;
        advanced.push_back({&tensors[item.value], strides[dim], shape[dim]});
        ++dim;
        break;
      default: return std::nullopt;
    }
  }
  while (dim < shape.size()) plain.push_back(strides[dim++]);
  if (apart) at = 0;
  const size_t extra = out.size() - plain.size();
  Shape middle(out.begin() + at, out.begin() + at + extra);
  std::vector<Strides> all;
  Strides own(out.size(), 0);
  for (size_t i = 0; i < plain.size(); ++i) own[i < at ? i : i + extra] = plain[i];
  all.push_back(own);
  for (const Advanced& a : advanced) {
    Strides mine(out.size(), 0);
    const Strides inner = BroadcastStrides(a.tensor->type->shape, middle);
    for (size_t i = 0; i < inner.size(); ++i) mine[at + i] = inner[i];
    all.push_back(mine);
  }
  std::vector<int64_t> map;
  bool inside = true;
  ForEach(out, all, [&](int64_t, const std::vector<int64_t>& offsets) {
    int64_t from = start + offsets[0];
    for (size_t i = 0; i < advanced.size(); ++i) {
      int64_t value = static_cast<int64_t>((*advanced[i].tensor->values)[offsets[i + 1]]);
      if (value < 0) value += advanced[i].size;
      inside = inside && value >= 0 && value < advanced[i].size;
      from += value * advanced[i].stride;
    }
    map.push_back(from);
  });
  if (!inside) return std::nullopt;
  return map;
}

std::vector<std::shared_ptr<const Values>> EvalConst(Op op, const Attributes& attributes, Inputs inputs,
                                                     const std::vector<TensorType>& outputs) {
  std::vector<std::shared_ptr<const Values>> result(outputs.size());
  if (outputs.empty() || inputs.empty() || (inputs[0].type == nullptr && op != Op::pow)) return result;
  for (const TensorType& type : outputs) {
    if (type.num_elements() > kMaxConstElements || IsComplex(type.dtype)) return result;
  }
  for (const ConstInput& input : inputs) {
    if (input.type != nullptr && IsComplex(input.type->dtype)) return result;
  }
  std::vector<std::optional<Values>> values = Eval(op, attributes, inputs, outputs);
  for (size_t i = 0; i < values.size() && i < outputs.size(); ++i) {
    if (!values[i] || static_cast<int64_t>(values[i]->size()) != outputs[i].num_elements()) continue;
    for (double& v : *values[i]) v = RoundTo(outputs[i].dtype, v);
    result[i] = std::make_shared<const Values>(std::move(*values[i]));
  }
  return result;
}

}  // namespace cobra::python
