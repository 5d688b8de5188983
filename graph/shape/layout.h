// Strides of tensors, to decide which reshapes copy. PyTorch's reshape, flatten and contiguous()
// return a view if the strides allow it and copy otherwise. Convolutions and elementwise calls keep
// the memory order of their inputs.
#ifndef COBRA_GRAPH_SHAPE_LAYOUT_H_
#define COBRA_GRAPH_SHAPE_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/shape/stride_rules.h"

namespace cobra::graph {

struct Layout {
  // Of a tensor in the graph. REQUIRES: not kNone.
  Strides Of(const Graph& graph, ValueRef ref) const;
  bool IsContiguous(const Graph& graph, ValueRef ref) const;
  // Whether all results of calls are in row-major order, and no view copies.
  bool IsContiguous() const;
  bool SuggestsChannelsLast(const Graph& graph, ValueRef ref) const;

  // Channels last for the network's arguments with four dimensions and the weights of image
  // convolutions, and so for their results; otherwise row-major order.
  bool channels_last = false;

  std::vector<bool> contiguous;  // [node]: all its outputs are in row-major order
  std::vector<bool> copies;      // [node]: the call has class kView but must copy its input
  absl::flat_hash_map<int32_t, absl::InlinedVector<Strides, 1>> strides;  // of the nodes that are not contiguous
};
Layout ComputeLayout(const Graph& graph, bool channels_last = false);

// The same for a graph under construction (GraphBuilder::graph()): Update() processes the nodes
// added since the last call.
class LayoutTracker {
 public:
  explicit LayoutTracker(const Graph& graph, bool channels_last = false) : graph_(graph) {
    layout_.channels_last = channels_last;
  }
  const Layout& Update();
  // In place of Update(): the nodes added since are known to be contiguous, and not to copy.
  void SkipContiguous();
  // REQUIRES: Update() was called since ref was added.
  Strides Of(ValueRef ref) const { return layout_.Of(graph_, ref); }
  Layout Take() && { return std::move(layout_); }

 private:
  bool StaysContiguous(const Node& node) const;
  bool MakesImagesChannelsLast(const Node& node) const;
  // An absent one has no shape. A call may have as many results as arguments (broadcast_tensors),
  // so its arguments are looked up once.
  absl::InlinedVector<StridedShape, 4> InputsOf(const Node& node) const;
  std::optional<Strides> StridesOf(const Node& node, size_t output, absl::Span<const StridedShape> inputs) const;
  const Graph& graph_;
  Layout layout_;
};

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_SHAPE_LAYOUT_H_
