// Strides, as far as they decide whether a view can stay one. PyTorch's reshape, flatten and contiguous() return a view
// when the strides allow it and copy when they do not; convolutions and elementwise calls keep the order of dimensions
// in memory that they find.
#ifndef COBRA_GRAPH_LAYOUT_H_
#define COBRA_GRAPH_LAYOUT_H_

#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "graph/graph.h"

namespace cobra::graph {

using Strides = absl::InlinedVector<int64_t, 6>;

struct Layout {
  std::vector<absl::InlinedVector<Strides, 1>> outputs;  // [node][output]
  std::vector<bool> copies;                              // a kView call that has to copy its input
};
Layout ComputeLayout(const Graph& graph);

// The same for a graph that is still growing (GraphBuilder::graph()): Update() looks at the nodes added since.
class LayoutTracker {
 public:
  explicit LayoutTracker(const Graph& graph) : graph_(graph) {}
  const Layout& Update();
  Strides Of(ValueRef ref) const;  // REQUIRES: Update() since ref was added

 private:
  std::optional<Strides> StridesOf(const Node& node, size_t output) const;
  const Graph& graph_;
  Layout layout_;
};

Strides ContiguousStrides(const Shape& shape);
bool IsContiguous(const Shape& shape, const Strides& strides);
// Strides of a view of `shape` with the sizes `view`; nullopt if only a copy has them.
std::optional<Strides> ViewStrides(const Shape& shape, const Strides& strides, const Shape& view);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_LAYOUT_H_
