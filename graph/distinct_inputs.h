// What a call reads: x * x, cat([x, x]) read one tensor.
#ifndef COBRA_GRAPH_DISTINCT_INPUTS_H_
#define COBRA_GRAPH_DISTINCT_INPUTS_H_

#include <cstddef>
#include <vector>

#include "graph/graph.h"

namespace cobra::graph {

// Positions in `call.inputs`, in their order: of each tensor the first; kNone is none.
std::vector<size_t> DistinctInputs(const Node& call);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_DISTINCT_INPUTS_H_
