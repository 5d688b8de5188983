// Bytes that a call touches of its tensors. Most calls read all of their arguments and write all of
// their results. Those that look something up, select, or write a part in place touch a part,
// whatever the size of the table or the buffer.
#ifndef COBRA_GRAPH_TOUCHED_BYTES_H_
#define COBRA_GRAPH_TOUCHED_BYTES_H_

#include <cstddef>
#include <cstdint>

#include "graph/graph.h"

namespace cobra::graph {

// Read of the call's argument `input`: never more than the whole tensor, since what is read again
// comes from a cache.
// 0 of an absent one, and of one that only gives a type or a size, or is overwritten. Where the
// values decide (masks), the most that they may ask for.
int64_t BytesRead(const Graph& graph, const Node& call, size_t input);

// Written of the call's result `output`. In place it is what the call changes; out of place a call
// that changes a part copies the rest.
int64_t BytesWritten(const Graph& graph, const Node& call, size_t output);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_TOUCHED_BYTES_H_
