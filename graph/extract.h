// One call of a network as a graph of its own: what is measured when the model does not know a layer. Nothing of the
// network but the call, its attributes and its shapes is in it: no names, no source.
#ifndef COBRA_GRAPH_EXTRACT_H_
#define COBRA_GRAPH_EXTRACT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace cobra::graph {

// The views that its arguments come through (a transpose before a linear) are taken along, because they decide how the
// call reads memory; what those are views of become inputs. A parameter stays a parameter, so that its bytes count as
// weights.
absl::StatusOr<Graph> ExtractLayer(const Graph& graph, int32_t node);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_EXTRACT_H_
