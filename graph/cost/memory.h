// Memory over the execution order; PeakMemoryBytes() (graph/cost/cost.h) is its maximum.
#ifndef COBRA_GRAPH_COST_MEMORY_H_
#define COBRA_GRAPH_COST_MEMORY_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace cobra::graph {

struct MemoryUse {
  int64_t always_bytes = 0;                // inputs, parameters, buffers and constants
  std::vector<int64_t> during_call_bytes;  // one per call: the total, including the call's workspace
};
MemoryUse MemoryUseOf(const Graph& graph);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_COST_MEMORY_H_
