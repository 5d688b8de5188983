// 128 bits that isomorphic networks share: names, source positions, the order of independent nodes,
// and calls that return their argument (dropout at inference, a cast to the same type) do not
// matter; operators, attributes, shapes, data flow and which parameters are shared do.
// It identifies measurements and tasks, and is stored and shown. It is not a key for caches that
// untrusted callers share: the hash has no secret, and a network with a call that returns its
// argument takes longer than one without (graph/exact_bytes.h).
#ifndef COBRA_GRAPH_FORM_FINGERPRINT_H_
#define COBRA_GRAPH_FORM_FINGERPRINT_H_

#include "base/bytes/hash.h"
#include "graph/graph.h"

namespace cobra::graph {

Hash128 Fingerprint(const Graph& graph);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_FORM_FINGERPRINT_H_
