// The values of calls on constants: index tables, drop-path rates, masks. Covers the calls that
// models make while they are constructed. A call that is not covered gives no values; only reading
// them is an error.
#ifndef COBRA_GRAPH_CONSTANTS_CONST_EVAL_H_
#define COBRA_GRAPH_CONSTANTS_CONST_EVAL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "graph/attributes.h"
#include "graph/op.h"
#include "graph/types.h"

namespace cobra::graph {

struct ConstInput {
  const TensorType* type = nullptr;  // null: absent
  const std::vector<double>* values = nullptr;
};

// Tensors larger than this carry no values. Programs read rates, scales and small tables; the
// largest index tables that published models read have some 10,000 entries.
inline constexpr int64_t kMaxConstElements = int64_t{1} << 16;

// Values are in row-major order; a complex element has two, the real part first.
//
// Values of each output, rounded to the outputs' dtypes; null if they are unknown. Outputs of more
// than `max_elements` have none. REQUIRES: every present input has values, and `outputs` come from
// the shape rule.
std::vector<std::shared_ptr<const std::vector<double>>> EvalConst(Op op, const Attributes& attributes,
                                                                  absl::Span<const ConstInput> inputs,
                                                                  const TensorTypes& outputs,
                                                                  int64_t max_elements = kMaxConstElements);

// What x[index] = value writes, and to which elements of x (row-major).
struct ElementWrites {
  std::vector<int64_t> at;
  std::vector<double> values;
};

// For setitem; `inputs` are its inputs; the values of the first one are not read. Empty if the form
// of the index is not supported.
std::optional<ElementWrites> WritesOfSetItem(const Attributes& attributes, absl::Span<const ConstInput> inputs);

struct UniformInput {
  const TensorType* type = nullptr;  // null: absent
  double value = 0;                  // of every element
};

// The one value that all elements of all outputs have, however many they are; nullopt if they
// differ or are unknown. REQUIRES: `outputs` come from the shape rule.
std::optional<double> EvalUniform(Op op, const Attributes& attributes, absl::Span<const UniformInput> inputs,
                                  const TensorTypes& outputs);

double RoundTo(DType dtype, double value);

// Values are doubles. Whether this number of an int64 tensor is certain after it was computed, or
// written by a program: 2**60 + 1 is not. The ends of the type, which programs use as marks, are.
bool IsExactInteger(double value);

// For each element of x[index], the position of the element in x (row-major), which getitem reads
// and setitem writes. Empty if the form of the index is not supported. `tensors` are the index
// tensors in order.
std::optional<std::vector<int64_t>> IndexMap(const Shape& shape, const std::string& index,
                                             absl::Span<const ConstInput> tensors, const Shape& out);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_CONSTANTS_CONST_EVAL_H_
