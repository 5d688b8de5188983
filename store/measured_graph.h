// A measurement whose graph is parsed. Probes create it; every measurement from outside is
// converted to it.
#ifndef COBRA_STORE_MEASURED_GRAPH_H_
#define COBRA_STORE_MEASURED_GRAPH_H_

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "store/measurement.h"

namespace cobra::store {

struct MeasuredGraph {
  graph::Graph graph;
  // Its fingerprint is that of `graph`; graph_json is empty.
  Measurement measurement;
};

// Rebuilds the measurement's graph with our shape rules, and recomputes its fingerprint and
// graph_json. InvalidArgument ("graph: ...") if graph_json is not a graph.
absl::StatusOr<graph::Graph> RebuildGraph(Measurement* measurement);

// Sets whether a graph that somebody asked about is a network, and its label: a layer if only one
// of its calls computes, with the operator's name; "asked" for a network.
void ClassifyGraph(const graph::Graph& graph, Subject* subject);

}  // namespace cobra::store

#endif  // COBRA_STORE_MEASURED_GRAPH_H_
