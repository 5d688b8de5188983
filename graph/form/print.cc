#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/form/json.h"

namespace cobra::graph {
namespace {

std::string SourceText(const Graph& graph, ValueRef ref) {
  switch (ref.kind) {
    case ValueRef::Kind::kNone: return "None";
    case ValueRef::Kind::kInput: return graph.inputs()[ref.index].name;
    case ValueRef::Kind::kParameter: return graph.parameters()[ref.index].name;
    case ValueRef::Kind::kBuffer: return graph.buffers()[ref.index].name;
    case ValueRef::Kind::kConstant: return absl::StrCat("const", ref.index);
    case ValueRef::Kind::kNode: break;
  }
  const bool several = graph.nodes()[ref.index].outputs.size() > 1;
  return several ? absl::StrCat("%", ref.index, ".", ref.output) : absl::StrCat("%", ref.index);
}

}  // namespace

std::string PrintGraph(const Graph& graph) {
  std::string out;
  for (const NamedTensor& input : graph.inputs()) absl::StrAppend(&out, input.name, ": ", TypeText(input.type), "\n");
  for (size_t k = 0; k < graph.nodes().size(); ++k) {
    const Node& node = graph.nodes()[k];
    const OpInfo& info = GetOpInfo(node.op);
    std::vector<std::string> arguments;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i].is_none()) continue;
      arguments.push_back(absl::StrCat(info.input(i).name, "=", SourceText(graph, node.inputs[i])));
    }
    for (const auto& [name, value] : node.attributes)
      arguments.push_back(absl::StrCat(name, "=", AttributeText(value)));
    absl::StrAppend(
        &out, "%", k, " = ", info.name, node.inplace ? "_" : "", "(", absl::StrJoin(arguments, ", "), ") -> ",
        absl::StrJoin(node.outputs, ", ", [](std::string* s, const TensorType& t) { s->append(TypeText(t)); }), "\n");
  }
  absl::StrAppend(&out, "return ",
                  absl::StrJoin(graph.outputs(), ", ",
                                [&](std::string* s, const ValueRef& ref) { s->append(SourceText(graph, ref)); }),
                  "\n");
  return out;
}

}  // namespace cobra::graph
