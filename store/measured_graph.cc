#include "store/measured_graph.h"

#include "absl/strings/str_cat.h"
#include "graph/fingerprint.h"
#include "graph/json.h"

namespace cobra::store {

absl::StatusOr<graph::Graph> RebuildGraph(Measurement* measurement) {
  absl::StatusOr<graph::Graph> graph = graph::GraphFromJson(measurement->subject.graph_json);
  if (!graph.ok()) return absl::InvalidArgumentError(absl::StrCat("graph: ", graph.status().message()));
  measurement->subject.fingerprint = graph::Fingerprint(*graph).ToHex();
  measurement->subject.graph_json = graph::GraphToJson(*graph, {/*origins=*/false});
  return graph;
}

}  // namespace cobra::store
