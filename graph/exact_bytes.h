// A graph as bytes, for keys of caches: two graphs with the same bytes have the same calls in the
// same order, with the same arguments, types and data flow. Only names and source positions are
// omitted; predictions do not depend on them. (Fingerprint() omits more: the order of
// independent calls, and calls that return their argument, which still take time.) The format is
// that of this build; it is never stored or sent.
#ifndef COBRA_GRAPH_EXACT_BYTES_H_
#define COBRA_GRAPH_EXACT_BYTES_H_

#include <cstdint>
#include <string>

#include "graph/graph.h"

namespace cobra::graph {

// Some 200 bytes per call.
std::string ExactBytes(const Graph& graph);
// Appends those of a single call: two with the same bytes have the same operator, arguments and
// types, and weights in the same positions.
void AppendExactBytesOfCall(const Graph& graph, int32_t node, std::string* bytes);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_EXACT_BYTES_H_
