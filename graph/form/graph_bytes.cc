#include "graph/form/graph_bytes.h"

#include <string>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "base/bytes/heap_bytes.h"

namespace cobra::graph {
namespace {

int64_t HeapBytesOf(const TensorType& type) {
  const bool is_inline = type.shape.capacity() <= Shape().capacity();
  return is_inline ? 0 : MallocBytes(type.shape.capacity() * sizeof(int64_t));
}

int64_t HeapBytesOf(const Attributes& attributes) {
  if (attributes.empty()) return 0;
  constexpr size_t kShared = 48;  // a list that copies share
  int64_t bytes = MallocBytes(kShared) + MallocBytes(attributes.size() * sizeof(Attributes::Entry));
  for (const auto& [name, value] : attributes) {
    if (const auto* text = std::get_if<std::string>(&value)) bytes += HeapBytes(*text);
    if (const auto* whole = std::get_if<std::vector<int64_t>>(&value)) bytes += HeapBytes(*whole);
    if (const auto* real = std::get_if<std::vector<double>>(&value)) bytes += HeapBytes(*real);
  }
  return bytes;
}

}  // namespace

int64_t GraphBytes(const Graph& graph) {
  int64_t bytes =
      MallocBytes(graph.nodes().size() * sizeof(Node)) + MallocBytes(graph.outputs().size() * sizeof(ValueRef));
  for (const Node& node : graph.nodes()) {
    bytes += HeapBytes(node.inputs) + HeapBytes(node.outputs) + HeapBytes(node.origin.module_path) +
             HeapBytesOf(node.attributes);
    for (const TensorType& type : node.outputs) bytes += HeapBytesOf(type);
  }
  for (const absl::Span<const NamedTensor> tensors :
       {graph.inputs(), graph.parameters(), graph.buffers(), graph.constants()}) {
    bytes += MallocBytes(tensors.size() * sizeof(NamedTensor));
    for (const NamedTensor& tensor : tensors) bytes += HeapBytes(tensor.name) + HeapBytesOf(tensor.type);
  }
  for (const auto& [name, parameter] : graph.parameter_aliases())
    bytes += static_cast<int64_t>(sizeof(name) + sizeof(parameter)) + HeapBytes(name);
  return bytes;
}

}  // namespace cobra::graph
