// Checks of graphs that others wrote (the API, JSON files), beside the shape rules that GraphBuilder runs anyway. The
// rules rely on what these check: sizes that do not overflow, attributes of the types that PyTorch's own arguments
// have. Messages are for the sender; the caller puts the node or tensor in front.
#ifndef COBRA_GRAPH_UNTRUSTED_H_
#define COBRA_GRAPH_UNTRUSTED_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/limits.h"
#include "graph/attributes.h"
#include "graph/builder.h"

namespace cobra::graph {

// Whether its elements would take more than `max_bytes`, sizes of 0 left out: what is computed from sizes must not
// overflow either.
bool IsTooLarge(const TensorType& type, int64_t max_bytes);

// InvalidArgument: a negative size, more than max_rank dimensions. ResourceExhausted: more bytes than max_tensor_bytes.
absl::Status CheckTensorType(const TensorType& type, const GraphLimits& limits);

// InvalidArgument where a value is of a type that the argument of that name never has: stride="same", keepdim=1. Names
// that mean different things in different operators are not checked here.
absl::Status CheckAttributeTypes(const Attributes& attributes);

// "node 12 (conv2d)"
std::string NodeText(int64_t index, absl::string_view op);
// The sender's words in a message: their beginning.
std::string Quoted(absl::string_view text);

// Names within one list: one that is not empty may occur once.
class UniqueNames {
 public:
  bool Add(absl::string_view name) { return name.empty() || names_.insert(std::string(name)).second; }

 private:
  absl::flat_hash_set<std::string> names_;
};

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_UNTRUSTED_H_
