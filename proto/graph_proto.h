// Graph <-> cobra.v1.Graph.
#ifndef COBRA_PROTO_GRAPH_PROTO_H_
#define COBRA_PROTO_GRAPH_PROTO_H_

#include "absl/status/statusor.h"
#include "cobra/v1/graph.pb.h"
#include "graph/builder.h"
#include "graph/graph.h"

namespace cobra::proto {

void GraphToProto(const graph::Graph& graph, v1::Graph* proto);

// Rebuilds the graph: every reference is checked, every shape rule runs again, and shapes in `proto` must equal the
// inferred ones. Nothing in `proto` is trusted. Errors carry a Diagnostic that points at the call's source line if the
// sender gave one.
absl::StatusOr<graph::Graph> GraphFromProto(const v1::Graph& proto, const GraphLimits& limits = {});

}  // namespace cobra::proto

#endif  // COBRA_PROTO_GRAPH_PROTO_H_
