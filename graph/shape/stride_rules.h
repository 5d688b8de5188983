// Strides of the outputs of one call: the memory order that PyTorch's kernels give to them
// (StrideRule).
#ifndef COBRA_GRAPH_SHAPE_STRIDE_RULES_H_
#define COBRA_GRAPH_SHAPE_STRIDE_RULES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "graph/graph.h"

namespace cobra::graph {

using Strides = absl::InlinedVector<int64_t, 6>;

Strides ContiguousStrides(const Shape& shape);
bool IsContiguous(const Shape& shape, const Strides& strides);
// Up to five dimensions, the second one innermost.
bool IsChannelsLast(const Shape& shape, const Strides& strides, size_t least_rank = 4);
// Whether PyTorch considers a tensor of four dimensions channels-last: only by the order of its
// strides, which may leave gaps (c10/core/MemoryFormat.h, is_channels_last_strides_2d;
// suggest_memory_format()).
bool SuggestsChannelsLast(const Shape& shape, const Strides& strides);
Strides ChannelsLastStrides(const Shape& shape);
// Strides of a view of `shape` with the sizes `view`; nullopt if that requires a copy.
std::optional<Strides> ViewStrides(const Shape& shape, const Strides& strides, const Shape& view);

struct StridedShape {
  Shape shape;
  Strides strides;
};

// A new tensor that is computed element by element from operands that broadcast to it: dimensions
// are in the memory order of the first operand that determines it (ATen's
// TensorIterator::reorder_dimensions).
Strides ElementwiseStrides(const Shape& out, absl::Span<const StridedShape> operands);

// Strides of output number `output` by the rule of the operator; nullopt for a new contiguous
// tensor. `inputs`: those of the node; an absent one has no shape. REQUIRES: the first one is
// present.
std::optional<Strides> StridesByRule(const Node& node, size_t output, absl::Span<const StridedShape> inputs);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_SHAPE_STRIDE_RULES_H_
