// The bytes of its tensors that a call touches. Most calls read all of their arguments and write
// all of their results. Look-ups, selections and partial in-place writes touch only a part,
// whatever the size of the table or the buffer.
#ifndef COBRA_GRAPH_COST_TOUCHED_BYTES_H_
#define COBRA_GRAPH_COST_TOUCHED_BYTES_H_

#include <cstddef>
#include <cstdint>

#include "graph/graph.h"

namespace cobra::graph {

// Bytes read of the call's argument `input`: at most the whole tensor, since repeated reads come
// from a cache. 0 for an absent argument, and for one that only provides a type or a size, or is
// overwritten. If it depends on values (masks), the maximum.
int64_t BytesRead(const Graph& graph, const Node& call, size_t input);

// Bytes written of the call's result `output`. In place, only what the call changes; out of place,
// a call that changes a part copies the rest.
int64_t BytesWritten(const Graph& graph, const Node& call, size_t output);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_COST_TOUCHED_BYTES_H_
