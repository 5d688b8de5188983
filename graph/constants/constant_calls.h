// Calls that do not depend on any input of the network: position tables, masks, weights that are
// unpacked. PyTorch runs them each time, so they are calls of the graph. Runtimes that prepare a
// network compute them once.
#ifndef COBRA_GRAPH_CONSTANTS_CONSTANT_CALLS_H_
#define COBRA_GRAPH_CONSTANTS_CONSTANT_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "graph/op.h"

namespace cobra::graph {

// Whether a call uses only the shape or type of its input `index`: x.type_as(other) is constant if
// x is.
bool ReadsOnlyTheType(Op op, size_t index);

// For each call, whether its results are the same in every run: they are not if they depend on
// inputs, on random numbers, or (unless `of_parameters`) on parameters.
std::vector<bool> ConstantCalls(const Graph& graph, bool of_parameters);

struct WithoutCalls {
  static constexpr int32_t kGone = -1;

  Graph graph;
  std::vector<int32_t> place_of_call;  // for each call of the network its index in `graph`, or kGone
};

// The network as prepared by a runtime: the results of such calls are constants, with their values
// if known. nullopt if there are no such calls, or no others.
std::optional<WithoutCalls> WithoutConstantCalls(const Graph& graph, bool of_parameters);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_CONSTANTS_CONSTANT_CALLS_H_
