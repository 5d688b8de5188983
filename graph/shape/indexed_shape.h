// The shape of tensor[index], for calls of getitem and setitem.
#ifndef COBRA_GRAPH_SHAPE_INDEXED_SHAPE_H_
#define COBRA_GRAPH_SHAPE_INDEXED_SHAPE_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/getitem.h"
#include "graph/types.h"

namespace cobra::graph {

// OutOfRange with PyTorch's IndexError messages. Unimplemented for masks,
// whose result depends on their values.
absl::StatusOr<Shape> IndexedShape(const Shape& shape, const IndexList& index,
                                   absl::Span<const TensorType* const> tensors);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_SHAPE_INDEXED_SHAPE_H_
