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

// What dominates the time of an operator.
enum class CostClass : uint8_t {
  kCompute,  // multiply-accumulates (convolution, matrix product, attention)
  kMemory,   // bytes moved (elementwise, norms, pooling, copies)
  kView,     // no tensor data is touched (reshape, transpose, slices)
};

struct OpInputSpec {
  absl::string_view name;  // PyTorch's argument name
  bool optional = false;   // may be kNone
  bool variadic = false;   // a list of tensors (cat, stack, einsum); always the last one
};

struct OpInfo {
  Op op;
  absl::string_view name;
  CostClass cost_class;
  std::vector<OpInputSpec> inputs;
  std::vector<absl::string_view> attributes;  // canonical order; others are refused
  int min_inputs = 0;
  int max_inputs = 0;  // INT_MAX when variadic
};

const OpInfo& GetOpInfo(Op op);
inline absl::string_view OpName(Op op) { return GetOpInfo(op).name; }
std::optional<Op> OpFromName(absl::string_view name);
absl::Span<const OpInfo> AllOps();

// PyTorch's own sources of random numbers: a call of the network even where it takes no tensor, whatever it fills.
bool DrawsRandomNumbers(Op op);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_OP_H_
