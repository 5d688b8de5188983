// Calls that depend on no input of the network: tables of positions, masks, weights that are
// unpacked. PyTorch runs them each time, and so they are calls of the graph. Runtimes that prepare
// a network compute them once.
#ifndef COBRA_GRAPH_CONSTANT_CALLS_H_
#define COBRA_GRAPH_CONSTANT_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "graph/op.h"

namespace cobra::graph {

// Whether a call asks of its input `index` only which shape or type it has: x.type_as(other) is
// constant where x is.
bool ReadsOnlyTheType(Op op, size_t index);

// Of each call, whether its results are the same in every run: from what depends on inputs, on
// random numbers, or (unless `of_parameters`) on parameters, they are not.
std::vector<bool> ConstantCalls(const Graph& graph, bool of_parameters);

struct WithoutCalls {
  static constexpr int32_t kGone = -1;

  Graph graph;
  std::vector<int32_t> place_of_call;  // of each call of the network its place in `graph`, or kGone
};

// The network as a runtime has prepared it: the results of such calls are constants, with their
// values where these are known. Nothing if there are no such calls, or no others.
std::optional<WithoutCalls> WithoutConstantCalls(const Graph& graph, bool of_parameters);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_CONSTANT_CALLS_H_
