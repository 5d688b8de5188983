#include "store/subject.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/form/fingerprint.h"

namespace cobra::store {

std::string Subject::Name() const {
  return seed == 0 ? absl::StrCat(space, "/", index) : absl::StrCat(space, "@", seed, "/", index);
}

std::string Subject::Key() const { return absl::StrCat(Name(), "/", repeat); }

void SetGraph(graph::Graph graph, Subject* subject) {
  subject->fingerprint = graph::Fingerprint(graph).ToHex();
  subject->graph = std::move(graph);
}

Subject AskedSubject(graph::Graph graph, int repeat) {
  Subject subject;
  subject.space = "asked";
  subject.repeat = repeat;
  ClassifyGraph(graph, &subject);
  SetGraph(std::move(graph), &subject);
  return subject;
}

void ClassifyGraph(const graph::Graph& graph, Subject* subject) {
  const auto computes = [&](const graph::Node& node) { return !graph::IsView(node) && !graph::IsAlias(graph, node); };
  const auto nodes = graph.nodes();
  const auto first = std::find_if(nodes.begin(), nodes.end(), computes);
  subject->is_network = std::count_if(nodes.begin(), nodes.end(), computes) > 1;
  subject->label = subject->is_network ? "asked" : first == nodes.end() ? "" : std::string(graph::OpName(first->op));
}

}  // namespace cobra::store
