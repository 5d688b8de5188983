#include "graph/exact_bytes.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace cobra::graph {
namespace {

// Every list begins with its length and every attribute's value with its type, so that different
// graphs have different bytes.
class Writer {
 public:
  explicit Writer(std::string* bytes) : bytes_(*bytes) {}

  void Write(const Graph& graph) {
    for (const auto tensors : {graph.inputs(), graph.parameters(), graph.buffers(), graph.constants()}) {
      Count(tensors.size());
      for (const NamedTensor& tensor : tensors) Type(tensor.type);
    }
    Count(graph.nodes().size());
    for (const Node& node : graph.nodes()) Call(node);
    Refs(graph.outputs());
    Flush();
  }

  void WriteCall(const Graph& graph, const Node& node) {
    Arguments(node);
    Count(node.inputs.size());
    for (const ValueRef& ref : node.inputs) {
      enum Place : uint8_t { kNone, kActivation, kWeight };
      const bool is_activation = ref.is_node() || ref.kind == ValueRef::Kind::kInput;
      Number(static_cast<uint8_t>(ref.is_none() ? kNone : is_activation ? kActivation : kWeight));
      if (!ref.is_none()) Type(graph.TypeOf(ref));
    }
    Outputs(node);
    Flush();
  }

 private:
  // A string that grows by a few bytes at a time takes longer than what is written: they are
  // collected first.
  template <typename T>
  void Number(T value) {
    if (sizeof(collected_) - num_collected_ < sizeof(T)) Flush();
    std::memcpy(collected_ + num_collected_, &value, sizeof(T));
    num_collected_ += sizeof(T);
  }
  void Flush() {
    bytes_.append(collected_, num_collected_);
    num_collected_ = 0;
  }
  void Count(size_t n) { Number(static_cast<uint64_t>(n)); }
  void Text(absl::string_view text) {
    Count(text.size());
    if (sizeof(collected_) - num_collected_ < text.size()) Flush();
    if (text.size() > sizeof(collected_)) {
      bytes_.append(text.data(), text.size());
      return;
    }
    std::copy(text.begin(), text.end(), collected_ + num_collected_);
    num_collected_ += text.size();
  }
  template <typename T>
  void Numbers(absl::Span<const T> values) {
    Count(values.size());
    for (const T value : values) Number(value);
  }
  void Type(const TensorType& type) {
    Number(static_cast<uint8_t>(type.dtype));
    Numbers(absl::MakeConstSpan(type.shape));
  }
  void Refs(absl::Span<const ValueRef> refs) {
    Count(refs.size());
    for (const ValueRef& ref : refs) {
      Number(static_cast<uint8_t>(ref.kind));
      Number(ref.index);
      Number(ref.output);
    }
  }

  struct ValueWriter {
    Writer* out;
    void operator()(NoneValue) const {}
    void operator()(bool value) const { out->Number(static_cast<uint8_t>(value)); }
    void operator()(int64_t value) const { out->Number(value); }
    void operator()(double value) const { out->Number(value); }
    void operator()(const std::string& value) const { out->Text(value); }
    void operator()(const std::vector<int64_t>& values) const { out->Numbers(absl::MakeConstSpan(values)); }
    void operator()(const std::vector<double>& values) const { out->Numbers(absl::MakeConstSpan(values)); }
  };

  void Arguments(const Node& node) {
    Number(static_cast<uint16_t>(node.op));
    Number(static_cast<uint8_t>(node.inplace));
    Count(node.attributes.size());
    for (const auto& [name, value] : node.attributes) {
      Text(name);
      Number(static_cast<uint8_t>(value.index()));
      std::visit(ValueWriter{this}, value);
    }
  }
  void Outputs(const Node& node) {
    Count(node.outputs.size());
    for (const TensorType& type : node.outputs) Type(type);
  }

  void Call(const Node& node) {
    Arguments(node);
    Refs(node.inputs);
    Outputs(node);
  }

  std::string& bytes_;
  char collected_[512];
  size_t num_collected_ = 0;
};

}  // namespace

std::string ExactBytes(const Graph& graph) {
  constexpr size_t kUsualBytesOfCall = 256;
  std::string bytes;
  bytes.reserve(graph.nodes().size() * kUsualBytesOfCall);
  Writer(&bytes).Write(graph);
  return bytes;
}

void AppendExactBytesOfCall(const Graph& graph, int32_t node, std::string* bytes) {
  Writer(bytes).WriteCall(graph, graph.nodes()[static_cast<size_t>(node)]);
}

}  // namespace cobra::graph
