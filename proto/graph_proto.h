// Graph <-> cobra.v1.Graph, as a message and as the bytes of one. The bytes are written and read
// without a message in between, which would take longer than all the rest.
#ifndef COBRA_PROTO_GRAPH_PROTO_H_
#define COBRA_PROTO_GRAPH_PROTO_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/bytes/wire_format.h"
#include "cobra/v1/graph.pb.h"
#include "graph/builder/builder.h"
#include "graph/graph.h"

namespace cobra::proto {

// The bytes that the message serializes to. In names, bytes that are not UTF-8 become '?'.
std::string GraphToWire(const graph::Graph& graph);
// The same in front of what `out` has.
void WriteGraph(const graph::Graph& graph, WireWriter* out);
void GraphToProto(const graph::Graph& graph, v1::Graph* proto);

// Rebuilds the graph: every reference is checked, every shape rule runs again, and shapes that the
// sender gives must equal the inferred ones. Nothing is trusted. Errors carry a Diagnostic that
// points at the call's source line if the sender gave one. Memory is bounded: beside what `limits`
// allow in calls, tensors and numbers, some three times the bytes.
absl::StatusOr<graph::Graph> GraphFromWire(absl::string_view bytes, const GraphLimits& limits = {});
absl::StatusOr<graph::Graph> GraphFromProto(const v1::Graph& proto, const GraphLimits& limits = {});

}  // namespace cobra::proto

#endif  // COBRA_PROTO_GRAPH_PROTO_H_
