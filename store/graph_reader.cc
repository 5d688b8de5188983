#include "store/graph_reader.h"

#include <utility>

#include "base/status_macros.h"
#include "graph/form/json.h"

namespace cobra::store {

absl::Status GraphReader::Read(absl::string_view graph_json, Subject* subject) {
  const Hash128 text = HashBytes(graph_json);
  {
    const absl::MutexLock lock(&mutex_);
    if (const auto known = known_.find(text); known != known_.end()) {
      subject->graph = known->second.graph;
      subject->fingerprint = known->second.fingerprint;
      return absl::OkStatus();
    }
  }
  COBRA_ASSIGN_OR_RETURN(graph::Graph graph, graph::GraphFromJson(graph_json));
  SetGraph(std::move(graph), subject);
  const absl::MutexLock lock(&mutex_);
  known_.emplace(text, Known{subject->graph, subject->fingerprint});
  return absl::OkStatus();
}

}  // namespace cobra::store
