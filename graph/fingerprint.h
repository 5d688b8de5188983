// 128 bits that isomorphic networks share: names, source positions and the order of independent nodes do not matter;
// operators, attributes, shapes, data flow and which parameters are shared do.
#ifndef COBRA_GRAPH_FINGERPRINT_H_
#define COBRA_GRAPH_FINGERPRINT_H_

#include "base/hash.h"
#include "graph/graph.h"

namespace cobra::graph {

Hash128 Fingerprint(const Graph& graph);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_FINGERPRINT_H_
