// The operators, each declared once in graph/ops.def; names are those of the PyTorch functions.
#ifndef COBRA_GRAPH_OP_H_
#define COBRA_GRAPH_OP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/types.h"

namespace cobra::graph {

enum class Op : uint16_t {
#define COBRA_OP(name, ...) name,
#include "graph/ops.def"
#undef COBRA_OP
};

inline constexpr int kNumOps = 0
#define COBRA_OP(name, ...) +1
#include "graph/ops.def"
#undef COBRA_OP
    ;

// What determines the time of an operator.
enum class CostClass : uint8_t {
  kCompute,  // multiply-accumulates (convolution, matrix product, attention)
  kMemory,   // bytes moved (elementwise, norms, pooling, copies)
  kView,     // no tensor data is touched (reshape, transpose, slices)
};

// What the integers of an input select, which bounds their values. After '#' in ops.def.
enum class Selects : uint8_t {
  kNothing,    // they are numbers to compute with
  kMask,       // "mask": the elements that are true
  kCount,      // "count": how often something is repeated; any number
  kDim,        // "dim": along the attribute `dim` of the first input
  kEach,       // "each": the n-th tensor of the list along dimension n of the first input
  kAny,        // "any": along a dimension of the first input given by the attribute `index`: below the smallest
  kElement,    // "element": of the first input, as if it had one dimension
  kLast,       // "last": along the last dimension of the first input
  kLastTwo,    // "last_two": among the elements of the last two
  kLastThree,  // "last_three"
  kClass,      // "class": along the classes of the first input, its second dimension or its only one
  kRow,        // "row": a row of the second input
  kValue,      // "value": along the last dimension of the output
  kBag,        // "bag": the index at which a bag begins; the first begins at 0
  kGroup,      // "group": where a group of rows ends; ascending
};

struct OpInputSpec {
  absl::string_view name;  // PyTorch's argument name
  bool optional = false;   // may be kNone
  bool variadic = false;   // a list of tensors (cat, stack, einsum); always the last one
  Selects selects = Selects::kNothing;
};

// When an attribute affects inference. A mark at the end of its name in ops.def.
enum class AttributeUse : uint8_t {
  kAlways,
  // '~': in training only; the call has a `training` argument, and at inference the attribute has
  // no effect.
  kTraining,
  kNever,       // '-': only a gradient or a check depends on it
  kWhereTrue,   // '+'
  kBeside,      // '&other': if the call also has the attribute `other`
  kOutputSize,  // '=size': replaced by the resulting output size, under that name
};

struct OpAttributeSpec {
  absl::string_view name;
  AttributeUse use = AttributeUse::kAlways;
  absl::string_view other;  // of kBeside and kOutputSize
};

struct OpInfo {
  Op op;
  absl::string_view name;
  CostClass cost_class;
  std::vector<OpInputSpec> inputs;
  std::vector<OpAttributeSpec> attributes;  // in canonical order; others are rejected
  int min_inputs = 0;
  int max_inputs = 0;  // INT_MAX when variadic

  // The spec of input `i` of a call; the last one applies to all tensors of a list.
  const OpInputSpec& input(size_t i) const { return inputs[i < inputs.size() ? i : inputs.size() - 1]; }
  const OpAttributeSpec* FindAttribute(absl::string_view name) const;  // null if the operator has no such attribute
};

const OpInfo& GetOpInfo(Op op);
inline absl::string_view OpName(Op op) { return GetOpInfo(op).name; }
std::optional<Op> OpFromName(absl::string_view name);
absl::Span<const OpInfo> AllOps();

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_OP_H_
