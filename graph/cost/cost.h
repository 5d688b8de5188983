// The cost of a call, computed from shapes alone.
#ifndef COBRA_GRAPH_COST_COST_H_
#define COBRA_GRAPH_COST_COST_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace cobra::graph {

struct NodeCost {
  int64_t macs = 0;          // multiply-accumulates of convolutions and products
  int64_t flops = 0;         // 2 x macs, plus one per element for elementwise work (norms: their passes)
  int64_t input_bytes = 0;   // activations read
  int64_t weight_bytes = 0;  // parameters, buffers and constants read
  int64_t output_bytes = 0;  // written; 0 for views
};

// The cost of one call. A reshape or contiguous() counts as a view, which it usually is; NodeCosts
// knows which ones copy.
NodeCost CostOf(const Graph& graph, int32_t node);
std::vector<NodeCost> NodeCosts(const Graph& graph);

// For a call that is not in a graph.
int64_t MacsOfCall(Op op, const Attributes& attributes, const std::vector<const TensorType*>& inputs,
                   const TensorTypes& outputs);
int64_t FlopsOfCall(Op op, const Attributes& attributes, const std::vector<const TensorType*>& inputs,
                    const TensorTypes& outputs);

struct GraphCost {
  int64_t macs = 0, flops = 0, activation_bytes = 0, weight_bytes = 0;
};
GraphCost CostOf(const Graph& graph);

// Peak of bytes at LibTorch's c10 allocator on the second call: parameters and buffers + liveness
// of activations over the execution order (views and in-place calls share storage) + the workspace
// of each call (graph/cost/memory.cc).
int64_t PeakMemoryBytes(const Graph& graph);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_COST_COST_H_
