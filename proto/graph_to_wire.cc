// Fields and items are written in reverse order (base/bytes/wire_format.h), by the numbers that the
// generated code has for them, and in the order in which protobuf writes them: equal graphs are
// equal bytes.
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/bytes/wire_format.h"
#include "base/text/utf8.h"
#include "proto/graph_fields.h"
#include "proto/graph_proto.h"

namespace cobra::proto {
namespace {

// A negative number takes ten bytes, as in protobuf.
uint64_t Bits(int64_t value) { return static_cast<uint64_t>(value); }

class GraphWriter {
 public:
  GraphWriter(const graph::Graph& graph, WireWriter* out) : graph_(graph), out_(*out) {}

  void Write() {
    NumberFiles();
    for (size_t i = file_names_.size(); i-- > 0;) Name(v1::Graph::kSourceFilesFieldNumber, *file_names_[i]);
    for (size_t i = graph_.outputs().size(); i-- > 0;) Ref(v1::Graph::kOutputsFieldNumber, graph_.outputs()[i]);
    for (size_t i = graph_.nodes().size(); i-- > 0;) WriteNode(graph_.nodes()[i], node_files_[i]);
    for (size_t i = graph_.parameter_aliases().size(); i-- > 0;) {
      const auto& [name, parameter] = graph_.parameter_aliases()[i];
      const size_t since = out_.size();
      out_.NumberUnlessZero(v1::ParameterAlias::kParameterFieldNumber, Bits(parameter));
      NameUnlessEmpty(v1::ParameterAlias::kNameFieldNumber, name);
      out_.Message(v1::Graph::kParameterAliasesFieldNumber, since);
    }
    Tensors(v1::Graph::kConstantsFieldNumber, graph_.constants());
    Tensors(v1::Graph::kBuffersFieldNumber, graph_.buffers());
    Tensors(v1::Graph::kParametersFieldNumber, graph_.parameters());
    Tensors(v1::Graph::kInputsFieldNumber, graph_.inputs());
  }

 private:
  struct Files {
    int file = 0, made_file = 0;  // positions from 1; 0 is none
  };

  // In the order in which calls name them.
  void NumberFiles() {
    absl::flat_hash_map<absl::string_view, int> positions;
    const std::string* last = nullptr;  // nearly always the next one too
    int last_position = 0;
    const auto position_of = [&](const std::shared_ptr<const std::string>& file) {
      if (file == nullptr) return 0;
      if (file.get() == last) return last_position;
      const auto [entry, added] = positions.try_emplace(*file, static_cast<int>(positions.size()) + 1);
      if (added) file_names_.push_back(file.get());
      last = file.get();
      last_position = entry->second;
      return last_position;
    };
    node_files_.reserve(graph_.nodes().size());
    for (const graph::Node& node : graph_.nodes()) {
      const int file = position_of(node.origin.file);
      node_files_.push_back({file, position_of(node.origin.made_file)});
    }
  }

  void Name(int field, absl::string_view text) {
    if (IsUtf8(text)) {
      out_.Text(field, text);
    } else {
      out_.Text(field, ReplaceInvalidUtf8(text));
    }
  }
  void NameUnlessEmpty(int field, absl::string_view text) {
    if (!text.empty()) Name(field, text);
  }

  void Type(int field, const graph::TensorType& type) {
    const size_t since = out_.size();
    out_.NumberUnlessZero(v1::TensorType::kDtypeFieldNumber, Bits(DTypeToProto(type.dtype)));
    Numbers(v1::TensorType::kShapeFieldNumber, type.shape);
    out_.Message(field, since);
  }

  template <typename List>
  void Numbers(int field, const List& values) {
    if (values.empty()) return;
    const size_t since = out_.size();
    for (size_t i = values.size(); i-- > 0;) out_.Varint(Bits(values[i]));
    out_.Message(field, since);
  }

  void Tensors(int field, absl::Span<const graph::NamedTensor> tensors) {
    for (size_t i = tensors.size(); i-- > 0;) {
      const size_t since = out_.size();
      Type(v1::NamedTensor::kTypeFieldNumber, tensors[i].type);
      NameUnlessEmpty(v1::NamedTensor::kNameFieldNumber, tensors[i].name);
      out_.Message(field, since);
    }
  }

  void Ref(int field, graph::ValueRef ref) {
    const size_t since = out_.size();
    out_.NumberUnlessZero(v1::ValueRef::kOutputFieldNumber, Bits(ref.output));
    out_.NumberUnlessZero(v1::ValueRef::kIndexFieldNumber, Bits(ref.index));
    out_.NumberUnlessZero(v1::ValueRef::kKindFieldNumber, static_cast<uint64_t>(ref.kind));
    out_.Message(field, since);
  }

  void Value(bool value) { out_.Number(v1::Attribute::kBoolValueFieldNumber, value ? 1 : 0); }
  void Value(int64_t value) { out_.Number(v1::Attribute::kIntValueFieldNumber, Bits(value)); }
  void Value(double value) { out_.Double(v1::Attribute::kDoubleValueFieldNumber, value); }
  void Value(const std::string& value) { Name(v1::Attribute::kStringValueFieldNumber, value); }
  void Value(const std::vector<int64_t>& values) {
    const size_t since = out_.size();
    Numbers(v1::IntList::kValuesFieldNumber, values);
    out_.Message(v1::Attribute::kIntsFieldNumber, since);
  }
  void Value(const std::vector<double>& values) {
    const size_t since = out_.size();
    for (size_t i = values.size(); i-- > 0;) out_.DoubleBits(values[i]);
    if (!values.empty()) out_.Message(v1::DoubleList::kValuesFieldNumber, since);
    out_.Message(v1::Attribute::kDoublesFieldNumber, since);
  }
  void Value(graph::NoneValue) {}

  void WriteNode(const graph::Node& node, Files files) {
    const size_t since = out_.size();
    WriteOrigin(node.origin, files);
    out_.NumberUnlessZero(v1::Node::kInplaceFieldNumber, node.inplace ? 1 : 0);
    for (size_t i = node.outputs.size(); i-- > 0;) Type(v1::Node::kOutputsFieldNumber, node.outputs[i]);
    for (size_t i = node.inputs.size(); i-- > 0;) Ref(v1::Node::kInputsFieldNumber, node.inputs[i]);
    for (size_t i = node.attributes.size(); i-- > 0;) {
      const graph::Attributes::Entry& entry = *(node.attributes.begin() + static_cast<std::ptrdiff_t>(i));
      const size_t attribute_since = out_.size();
      std::visit([this](const auto& value) { Value(value); }, entry.second);
      NameUnlessEmpty(v1::Attribute::kNameFieldNumber, entry.first);
      out_.Message(v1::Node::kAttributesFieldNumber, attribute_since);
    }
    out_.Text(v1::Node::kOpFieldNumber, graph::OpName(node.op));
    out_.Message(v1::Graph::kNodesFieldNumber, since);
  }

  void WriteOrigin(const graph::Origin& origin, Files files) {
    const size_t since = out_.size();
    out_.NumberUnlessZero(v1::Origin::kMadeLineFieldNumber, Bits(origin.made_line));
    out_.NumberUnlessZero(v1::Origin::kMadeFileFieldNumber, Bits(files.made_file));
    NameUnlessEmpty(v1::Origin::kModulePathFieldNumber, origin.module_path);
    out_.NumberUnlessZero(v1::Origin::kLineFieldNumber, Bits(origin.line));
    out_.NumberUnlessZero(v1::Origin::kFileFieldNumber, Bits(files.file));
    out_.Message(v1::Node::kOriginFieldNumber, since);
  }

  const graph::Graph& graph_;
  WireWriter& out_;
  std::vector<Files> node_files_;
  std::vector<const std::string*> file_names_;
};

size_t ExpectedBytes(const graph::Graph& graph) {
  constexpr size_t kNode = 160, kTensor = 48;
  return 256 + kNode * graph.nodes().size() + kTensor * (graph.parameters().size() + graph.buffers().size());
}

}  // namespace

void WriteGraph(const graph::Graph& graph, WireWriter* out) { GraphWriter(graph, out).Write(); }

std::string GraphToWire(const graph::Graph& graph) {
  WireWriter out(ExpectedBytes(graph));
  WriteGraph(graph, &out);
  return std::string(out.bytes());
}

void GraphToProto(const graph::Graph& graph, v1::Graph* proto) {
  WireWriter out(ExpectedBytes(graph));
  WriteGraph(graph, &out);
  (void)proto->ParseFromArray(out.bytes().data(), static_cast<int>(out.size()));
}

}  // namespace cobra::proto
