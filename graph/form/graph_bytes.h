// How much memory a graph takes, for limits in bytes: many networks in one request, graphs in a
// queue.
#ifndef COBRA_GRAPH_FORM_GRAPH_BYTES_H_
#define COBRA_GRAPH_FORM_GRAPH_BYTES_H_

#include <cstdint>

#include "graph/graph.h"

namespace cobra::graph {

// Approximate heap memory, an upper bound: attributes that calls share count for each of them.
// Takes time proportional to the calls and their tensors.
int64_t GraphBytes(const Graph& graph);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_FORM_GRAPH_BYTES_H_
