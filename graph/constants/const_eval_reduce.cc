// Values of calls that reduce each group of elements to one number.
#include <cmath>
#include <functional>
#include <numeric>

#include "graph/constants/const_rules.h"
#include "graph/op_table.h"

namespace cobra::graph::const_rules {
namespace {

// Reduces the elements of one group; nullopt where PyTorch raises an error.
using Reduce = std::optional<double> (*)(const Values& x, const Attributes& attributes);

double SumOf(const Values& x) { return std::accumulate(x.begin(), x.end(), 0.0); }

std::optional<double> Sum(const Values& x, const Attributes&) { return SumOf(x); }
std::optional<double> Mean(const Values& x, const Attributes&) { return SumOf(x) / static_cast<double>(x.size()); }
std::optional<double> Prod(const Values& x, const Attributes&) {
  return std::accumulate(x.begin(), x.end(), 1.0, std::multiplies<double>());
}
// What is not a number is both the largest and the smallest, as in PyTorch.
Values::const_iterator LargestOf(const Values& x) {
  const auto unknown = std::find_if(x.begin(), x.end(), [](double v) { return std::isnan(v); });
  return unknown != x.end() ? unknown : std::max_element(x.begin(), x.end());
}
Values::const_iterator SmallestOf(const Values& x) {
  const auto unknown = std::find_if(x.begin(), x.end(), [](double v) { return std::isnan(v); });
  return unknown != x.end() ? unknown : std::min_element(x.begin(), x.end());
}
std::optional<double> Largest(const Values& x, const Attributes&) {
  return x.empty() ? std::nullopt : std::optional<double>(*LargestOf(x));
}
std::optional<double> Smallest(const Values& x, const Attributes&) {
  return x.empty() ? std::nullopt : std::optional<double>(*SmallestOf(x));
}
std::optional<double> IndexOfLargest(const Values& x, const Attributes&) {
  return static_cast<double>(LargestOf(x) - x.begin());
}
std::optional<double> IndexOfSmallest(const Values& x, const Attributes&) {
  return static_cast<double>(SmallestOf(x) - x.begin());
}
std::optional<double> Any(const Values& x, const Attributes&) {
  return std::any_of(x.begin(), x.end(), [](double v) { return v != 0; }) ? 1.0 : 0.0;
}
std::optional<double> All(const Values& x, const Attributes&) {
  return std::all_of(x.begin(), x.end(), [](double v) { return v != 0; }) ? 1.0 : 0.0;
}
std::optional<double> CountNonzero(const Values& x, const Attributes&) {
  return static_cast<double>(x.size()) - static_cast<double>(std::count(x.begin(), x.end(), 0.0));
}

std::optional<double> Logsumexp(const Values& x, const Attributes&) {
  if (x.empty()) return std::nullopt;
  const double largest = *std::max_element(x.begin(), x.end());
  double total = 0;
  for (double v : x) total += std::exp(v - largest);
  return largest + std::log(total);
}

double PNorm(const Values& x, double p) {
  double result = p == -INFINITY ? INFINITY : 0;
  for (double v : x) {
    const double a = std::fabs(v);
    result = p == INFINITY    ? std::max(result, a)
             : p == -INFINITY ? std::min(result, a)
                              : result + (p == 0 ? a != 0 : std::pow(a, p));
  }
  return std::isinf(p) || p == 0 ? result : std::pow(result, 1 / p);
}
std::optional<double> Norm(const Values& x, const Attributes& attributes) {
  return PNorm(x, attributes.Double("p", 2));
}
std::optional<double> VectorNorm(const Values& x, const Attributes& attributes) {
  return PNorm(x, attributes.Double("ord", 2));
}

double VarianceOf(const Values& x, const Attributes& attributes) {
  const double n = static_cast<double>(x.size()), mean = SumOf(x) / n;
  double squares = 0;
  for (double v : x) squares += (v - mean) * (v - mean);
  return squares / (n - attributes.Double("correction", attributes.Bool("unbiased", true) ? 1 : 0));
}
std::optional<double> Variance(const Values& x, const Attributes& attributes) { return VarianceOf(x, attributes); }
std::optional<double> Deviation(const Values& x, const Attributes& attributes) {
  return std::sqrt(VarianceOf(x, attributes));
}

constexpr Reduce ReduceFunction(Op op) {
  switch (op) {
    case Op::sum: return Sum;
    case Op::mean: return Mean;
    case Op::prod: return Prod;
    case Op::max:
    case Op::amax: return Largest;
    case Op::min:
    case Op::amin: return Smallest;
    case Op::argmax: return IndexOfLargest;
    case Op::argmin: return IndexOfSmallest;
    case Op::any: return Any;
    case Op::all: return All;
    case Op::count_nonzero: return CountNonzero;
    case Op::logsumexp: return Logsumexp;
    case Op::norm: return Norm;
    case Op::linalg_vector_norm: return VectorNorm;
    case Op::var: return Variance;
    case Op::std: return Deviation;
    default: return nullptr;
  }
}

// Exactly the operators that have a function here use the rules Reduction and Extremum.
constexpr bool HasItsFunction(Op op) {
  const ConstRule rule = ConstRulesOf(op).real;
  return (rule == Reduction || rule == Extremum) == (ReduceFunction(op) != nullptr);
}
COBRA_CHECK_EVERY_OP(HasItsFunction);

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

}  // namespace

Outputs Reduction(const ConstCall& call) {
  const Reduce reduce = ReduceFunction(call.op);
  const Grouping g = GroupBy(call.type(0).shape, call.attributes);
  Values values, indices;
  bool known = true;
  ForEach(g.kept, {g.kept_strides}, [&](int64_t, const std::vector<int64_t>& at) {
    const Values group = Gathered(call.values(0), g.reduced, g.reduced_strides, at[0]);
    const std::optional<double> value = reduce(group, call.attributes);
    known = known && value.has_value();
    values.push_back(value.value_or(0));
    if (call.outputs.size() > 1)
      indices.push_back((call.op == Op::max ? IndexOfLargest : IndexOfSmallest)(group, call.attributes).value_or(0));
  });
  if (!known) return {};
  return {values, indices};
}

}  // namespace cobra::graph::const_rules
