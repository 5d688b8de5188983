// How much memory a graph takes, for what is bounded in bytes: many networks of one request, graphs
// that wait.
#ifndef COBRA_GRAPH_GRAPH_BYTES_H_
#define COBRA_GRAPH_GRAPH_BYTES_H_

#include <cstdint>

#include "graph/graph.h"

namespace cobra::graph {

// About what it holds on the heap, or more: attributes that calls share count for each of them.
// Takes time in proportion to the calls and their tensors.
int64_t GraphBytes(const Graph& graph);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_GRAPH_BYTES_H_
