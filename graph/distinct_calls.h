// The different calls of a graph. Networks repeat their calls, and much follows from a call by
// itself: it is computed once for each of them. Two are the same if AppendExactBytesOfCall() says
// so: they have the same operator, arguments and types, and weights in the same positions.
#ifndef COBRA_GRAPH_DISTINCT_CALLS_H_
#define COBRA_GRAPH_DISTINCT_CALLS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace cobra::graph {

struct DistinctCalls {
  std::vector<int32_t> of_call;  // index into the others
  std::vector<int32_t> first;    // of each, the first call that is it
  std::vector<CallKey> keys;     // likewise; callers are untrusted, so hashes are keyed

  size_t size() const { return first.size(); }
};

// Computed once for a graph that is built, and kept with it. Any thread.
std::shared_ptr<const DistinctCalls> DistinctCallsOf(const Graph& graph);

// `bytes` is overwritten.
CallKey KeyOfCall(const Graph& graph, int32_t call, std::string* bytes);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_DISTINCT_CALLS_H_
