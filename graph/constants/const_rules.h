// Rules that compute the values of calls on constants, by family; graph/op_rules.def names them.
// const_eval_arithmetic.cc (element by element), const_eval_reduce.cc, const_eval_moves.cc (what
// only moves elements), const_eval_index.cc and const_eval_select.cc (what selects or combines
// them), const_eval_complex.cc.
#ifndef COBRA_GRAPH_CONSTANTS_CONST_RULES_H_
#define COBRA_GRAPH_CONSTANTS_CONST_RULES_H_

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "graph/attributes.h"
#include "graph/constants/const_eval.h"
#include "graph/op.h"
#include "graph/shape/layout.h"
#include "graph/types.h"

namespace cobra::graph {

// One call as a rule sees it.
struct ConstCall {
  Op op;
  const Attributes& attributes;
  absl::Span<const ConstInput> inputs;
  const TensorTypes& outputs;

  bool has(size_t i) const { return i < inputs.size() && inputs[i].type != nullptr; }
  // REQUIRES: has(i)
  const TensorType& type(size_t i) const { return *inputs[i].type; }
  const std::vector<double>& values(size_t i) const { return *inputs[i].values; }
  const TensorType& out() const { return outputs[0]; }
};

namespace const_rules {

using Values = std::vector<double>;
// The values of each output; nullopt or a shorter list if this form of the call is not supported.
using Outputs = std::vector<std::optional<Values>>;

Outputs BitwiseNot(const ConstCall& call);
Outputs Binary(const ConstCall& call);
Outputs CartesianProd(const ConstCall& call);
Outputs Cdist(const ConstCall& call);
Outputs Clamp(const ConstCall& call);
Outputs Combinations(const ConstCall& call);
Outputs Copied(const ConstCall& call);
Outputs Diagonal(const ConstCall& call);
Outputs Diff(const ConstCall& call);
Outputs DimsMoved(const ConstCall& call);
Outputs Einsum(const ConstCall& call);
Outputs Embedding(const ConstCall& call);
Outputs Expanded(const ConstCall& call);
Outputs Extremum(const ConstCall& call);
Outputs Filled(const ConstCall& call);
Outputs Flip(const ConstCall& call);
Outputs Gather(const ConstCall& call);
Outputs GetItem(const ConstCall& call);
Outputs Joined(const ConstCall& call);
Outputs Kron(const ConstCall& call);
Outputs LastTwoSwapped(const ConstCall& call);
Outputs Lerp(const ConstCall& call);
Outputs MaskedFill(const ConstCall& call);
Outputs Median(const ConstCall& call);
Outputs Meshgrid(const ConstCall& call);
Outputs None(const ConstCall& call);  // the values are not known
Outputs OnDiagonals(const ConstCall& call);
Outputs OneHot(const ConstCall& call);
Outputs Pad(const ConstCall& call);
Outputs Permuted(const ConstCall& call);
Outputs Pieces(const ConstCall& call);
Outputs Product(const ConstCall& call);
Outputs ProductAdded(const ConstCall& call);
Outputs Reduction(const ConstCall& call);
Outputs Repeat(const ConstCall& call);
Outputs RepeatInterleave(const ConstCall& call);
Outputs Reversed(const ConstCall& call);
Outputs Roll(const ConstCall& call);
Outputs Rot90(const ConstCall& call);
Outputs RunningExtremum(const ConstCall& call);
Outputs Scan(const ConstCall& call);
Outputs Scattered(const ConstCall& call);
Outputs EvalSearchsorted(const ConstCall& call);
Outputs SetItem(const ConstCall& call);
Outputs SlicesWritten(const ConstCall& call);
Outputs Softmax(const ConstCall& call);
Outputs Sorted(const ConstCall& call);
Outputs Stacked(const ConstCall& call);
Outputs TensorUnfold(const ConstCall& call);
Outputs Transposed(const ConstCall& call);
Outputs Triangle(const ConstCall& call);
Outputs Unary(const ConstCall& call);
Outputs Unchanged(const ConstCall& call);
Outputs Where(const ConstCall& call);
Outputs Zeros(const ConstCall& call);

// For calls with complex tensors. A complex tensor has two numbers for each element, the real part
// first.
Outputs ComplexBinary(const ConstCall& call);
Outputs ComplexUnary(const ConstCall& call);
Outputs ConjugatedParts(const ConstCall& call);
Outputs FromParts(const ConstCall& call);
Outputs ImaginaryPart(const ConstCall& call);
Outputs Magnitude(const ConstCall& call);
Outputs Parts(const ConstCall& call);
Outputs Phase(const ConstCall& call);
Outputs Polar(const ConstCall& call);
Outputs RealPart(const ConstCall& call);
Outputs SameNumbers(const ConstCall& call);

using ConstRule = Outputs (*)(const ConstCall&);
struct ConstRules {
  ConstRule real, complex;
};

inline constexpr ConstRules kConstRules[] = {
#define COBRA_OP_RULES(name, storage, strides, kernel, randomness, operands, types, constants, complex_constants) \
  {constants, complex_constants},
#include "graph/op_rules.def"
#undef COBRA_OP_RULES
};
constexpr const ConstRules& ConstRulesOf(Op op) { return kConstRules[static_cast<size_t>(op)]; }
// Whether a result of `op` equals PyTorch's: an integer that was computed, not just passed on, must
// be exact.
bool IsCertain(Op op, DType dtype, double value);

// ---- what rules share

// Steps of a multi-index over `shape` in row-major order, with an offset for each of several stride
// sets.
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
inline Strides BroadcastStrides(const Shape& shape, const Shape& out) {
  const Strides own = ContiguousStrides(shape);
  Strides strides(out.size(), 0);
  const size_t lead = out.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) strides[lead + i] = shape[i] == 1 ? 0 : own[i];
  return strides;
}

// Whether a tensor of `shape` broadcasts to `out`.
inline bool BroadcastsTo(const Shape& shape, const Shape& out) {
  if (shape.size() > out.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t wanted = out[out.size() - shape.size() + i];
    if (shape[i] != wanted && shape[i] != 1) return false;
  }
  return true;
}

inline Values Gathered(const Values& from, const Shape& out, const Strides& strides, int64_t start = 0) {
  int64_t total = 1;
  for (int64_t d : out) total *= d;
  Values values;
  values.reserve(static_cast<size_t>(total));
  ForEach(out, {strides}, [&](int64_t, const std::vector<int64_t>& at) { values.push_back(from[start + at[0]]); });
  return values;
}

inline int Wrap(int64_t dim, int rank) { return static_cast<int>(dim < 0 ? dim + std::max(rank, 1) : dim); }

// A tensor as lines along one dimension.
struct Lines {
  int64_t outer = 1, size = 1, inner = 1;
  int64_t At(int64_t line, int64_t i) const { return (line / inner * size + i) * inner + line % inner; }
  int64_t count() const { return outer * inner; }
};

inline Lines LinesAlong(const Shape& shape, int64_t dim) {
  Lines lines;
  const int at = Wrap(dim, static_cast<int>(shape.size()));
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
    (d < at ? lines.outer : d == at ? lines.size : lines.inner) *= shape[d];
  }
  return lines;
}

// The inputs one after the other along `dim` of `out`.
Values Concatenated(absl::Span<const ConstInput> inputs, int dim, const TensorType& out);

}  // namespace const_rules
}  // namespace cobra::graph

#endif  // COBRA_GRAPH_CONSTANTS_CONST_RULES_H_
