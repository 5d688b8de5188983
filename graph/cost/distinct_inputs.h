// The distinct tensors that a call reads: x * x and cat([x, x]) read one.
#ifndef COBRA_GRAPH_COST_DISTINCT_INPUTS_H_
#define COBRA_GRAPH_COST_DISTINCT_INPUTS_H_

#include <cstddef>
#include <vector>

#include "graph/graph.h"

namespace cobra::graph {

// Positions in `call.inputs`, in order: the first of each tensor; kNone is skipped.
std::vector<size_t> DistinctInputs(const Node& call);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_COST_DISTINCT_INPUTS_H_
