// The attributes of a call in one spelling: what PyTorch takes for the same call has the same text,
// whether a dimension is counted from the front or the back, and a default is written out or not.
#ifndef COBRA_MODEL_TEXT_CANONICAL_ATTRIBUTES_H_
#define COBRA_MODEL_TEXT_CANONICAL_ATTRIBUTES_H_

#include <vector>

#include "graph/attributes.h"
#include "graph/graph.h"

namespace cobra::text {

// In the order of ops.def. Of two spellings the one that most measured calls have, so that weights
// know it: dimensions counted from the front, but the last one of a softmax as -1.
std::vector<graph::Attributes::Entry> CanonicalAttributes(const graph::Graph& graph, const graph::Node& node);

}  // namespace cobra::text

#endif  // COBRA_MODEL_TEXT_CANONICAL_ATTRIBUTES_H_
