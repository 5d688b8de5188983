// Shared by const_eval.cc (arithmetic, reductions), const_eval_moves.cc and const_eval_select.cc (what only moves
// elements) and const_eval_complex.cc.
#ifndef COBRA_GRAPH_CONST_EVAL_INTERNAL_H_
#define COBRA_GRAPH_CONST_EVAL_INTERNAL_H_

#include <algorithm>
#include <optional>
#include <vector>

#include "graph/const_eval.h"
#include "graph/layout.h"

namespace cobra::graph::const_eval {

using Values = std::vector<double>;
using Inputs = absl::Span<const ConstInput>;
using ConstOutputs = std::vector<std::optional<Values>>;  // shorter than the outputs, or nullopt, where there are none

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
inline Strides BroadcastStrides(const Shape& shape, const Shape& out) {
  const Strides own = ContiguousStrides(shape);
  Strides strides(out.size(), 0);
  const size_t lead = out.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) strides[lead + i] = shape[i] == 1 ? 0 : own[i];
  return strides;
}

inline Values Gathered(const Values& from, const Shape& out, const Strides& strides, int64_t start = 0) {
  Values values;
  values.reserve(from.size());
  ForEach(out, {strides}, [&](int64_t, const std::vector<int64_t>& at) { values.push_back(from[start + at[0]]); });
  return values;
}

inline int Wrap(int64_t dim, int rank) { return static_cast<int>(dim < 0 ? dim + std::max(rank, 1) : dim); }

// Strides with which the output of a permutation, transpose or expand reads its input; nullopt for other operators.
std::optional<Strides> MovedStrides(Op op, const Attributes& attributes, const Shape& in, const Shape& out);
std::vector<Values> EvalPieces(Op op, const Attributes& attributes, const ConstInput& input,
                               const std::vector<TensorType>& outputs);
Values EvalJoin(Op op, const Attributes& attributes, Inputs inputs, const TensorType& out);
// nullopt: not one of the operators of const_eval_select.cc, or a form of one that is not computed.
std::optional<std::vector<Values>> EvalSelected(Op op, const Attributes& attributes, Inputs inputs,
                                                const std::vector<TensorType>& outputs);
std::optional<Values> EvalRearranged(Op op, const Attributes& attributes, Inputs inputs, const TensorType& out);
// Of calls without complex tensors; of calls with some (const_eval_complex.cc).
ConstOutputs EvalReal(Op op, const Attributes& attributes, Inputs inputs, const std::vector<TensorType>& outputs);
ConstOutputs EvalComplex(Op op, const Attributes& attributes, Inputs inputs, const std::vector<TensorType>& outputs);

}  // namespace cobra::graph::const_eval

#endif  // COBRA_GRAPH_CONST_EVAL_INTERNAL_H_
