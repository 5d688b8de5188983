// Checks of graphs from outside (the API, JSON files), in addition to the shape rules that
// GraphBuilder runs. The rules rely on these checks: sizes do not overflow, and attributes have the
// types of PyTorch's arguments. Messages are for the sender; the caller prepends the node or
// tensor.
#ifndef COBRA_GRAPH_BUILDER_UNTRUSTED_H_
#define COBRA_GRAPH_BUILDER_UNTRUSTED_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/limits.h"
#include "graph/attributes.h"
#include "graph/builder/builder.h"

namespace cobra::graph {

// Whether the elements would take more than `max_bytes`. Sizes of 0 are ignored, so that products
// of the other sizes cannot overflow either.
bool IsTooLarge(const TensorType& type, int64_t max_bytes);

// InvalidArgument: a negative size, more than max_rank dimensions. ResourceExhausted: more bytes
// than max_tensor_bytes.
absl::Status CheckTensorType(const TensorType& type, const GraphLimits& limits);

// InvalidArgument if a value has a type that the argument of that name never has: stride="same",
// keepdim=1. Names with different meanings in different operators are not checked here.
absl::Status CheckAttributeTypes(const Attributes& attributes);

// ResourceExhausted if the name of a tensor, a module or a file is longer than the front ends allow
// (Limits::name_bytes): a breakdown repeats it for each call.
absl::Status CheckNameLength(absl::string_view name);

// "node 12 (conv2d)"
std::string NodeText(int64_t index, absl::string_view op);
// The sender's text for use in a message, shortened.
std::string Quoted(absl::string_view text);

// The names of one list; their bytes must outlive this object. Each name may occur once; empty
// names may repeat.
class UniqueNames {
 public:
  bool Add(absl::string_view name) { return name.empty() || names_.insert(name).second; }

 private:
  absl::flat_hash_set<absl::string_view> names_;
};

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_BUILDER_UNTRUSTED_H_
