#include "store/measured_graph.h"

#include <algorithm>
#include <string>

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

void ClassifyGraph(const graph::Graph& graph, Subject* subject) {
  const auto computes = [&](const graph::Node& node) { return !graph::IsView(node) && !graph::IsAlias(graph, node); };
  const auto nodes = graph.nodes();
  const auto first = std::find_if(nodes.begin(), nodes.end(), computes);
  subject->is_network = std::count_if(nodes.begin(), nodes.end(), computes) > 1;
  subject->label = subject->is_network ? "asked" : first == nodes.end() ? "" : std::string(graph::OpName(first->op));
}

}  // namespace cobra::store
