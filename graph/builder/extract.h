// One call of a network as a separate graph, to be measured when the model does not know the layer.
// It contains only the call, its attributes and its shapes: no names, no source.
#ifndef COBRA_GRAPH_BUILDER_EXTRACT_H_
#define COBRA_GRAPH_BUILDER_EXTRACT_H_

#include <cstdint>
#include <limits>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace cobra::graph {

// Views between the call and its arguments (a transpose before a linear) are included, because they
// decide how the call reads memory; the tensors behind the views become inputs. A parameter stays a
// parameter, so that its bytes count as weights. ResourceExhausted if the calls have more than
// `max_tensors` arguments and results together: a view may have a hundred thousand results, of
// which the call reads one.
absl::StatusOr<Graph> ExtractLayer(const Graph& graph, int32_t node,
                                   int64_t max_tensors = std::numeric_limits<int64_t>::max());

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_BUILDER_EXTRACT_H_
