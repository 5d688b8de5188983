#include "proto/graph_proto.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"

namespace cobra {
namespace {

// The enum names of graph.proto are those of graph/types.h in capitals, so that the list of types is written once.
v1::DType DTypeToProto(DType dtype) {
  v1::DType proto = v1::DTYPE_UNSPECIFIED;
  v1::DType_Parse(absl::StrCat("DTYPE_", absl::AsciiStrToUpper(DTypeName(dtype))), &proto);
  return proto;
}

std::optional<DType> DTypeFromProto(v1::DType proto) {
  absl::string_view name = v1::DType_Name(proto);
  if (!absl::StartsWith(name, "DTYPE_")) return std::nullopt;
  return DTypeFromName(absl::AsciiStrToLower(name.substr(6)));
}

void TypeToProto(const TensorType& type, v1::TensorType* proto) {
  for (int64_t size : type.shape) proto->add_shape(size);
  proto->set_dtype(DTypeToProto(type.dtype));
}

// ValueRef::Kind and v1::ValueRef::Kind have the same members in the same order.
static_assert(static_cast<int>(ValueRef::Kind::kNode) == v1::ValueRef::KIND_NODE);
static_assert(static_cast<int>(ValueRef::Kind::kConstant) == v1::ValueRef::KIND_CONSTANT);

void RefToProto(ValueRef ref, v1::ValueRef* proto) {
  proto->set_kind(static_cast<v1::ValueRef::Kind>(ref.kind));
  proto->set_index(ref.index);
  proto->set_output(ref.output);
}

void AttributeToProto(const Attributes::Entry& entry, v1::Attribute* proto) {
  proto->set_name(entry.first);
  std::visit(
      [proto](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, bool>) {
          proto->set_bool_value(value);
        } else if constexpr (std::is_same_v<T, int64_t>) {
          proto->set_int_value(value);
        } else if constexpr (std::is_same_v<T, double>) {
          proto->set_double_value(value);
        } else if constexpr (std::is_same_v<T, std::string>) {
          proto->set_string_value(value);
        } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
          v1::IntList* list = proto->mutable_ints();
          for (int64_t v : value) list->add_values(v);
        } else if constexpr (std::is_same_v<T, std::vector<double>>) {
          v1::DoubleList* list = proto->mutable_doubles();
          for (double v : value) list->add_values(v);
        }
      },
      entry.second);
}

AttributeValue AttributeFromProto(const v1::Attribute& proto) {
  switch (proto.value_case()) {
    case v1::Attribute::kBoolValue:
      return proto.bool_value();
    case v1::Attribute::kIntValue:
      return static_cast<int64_t>(proto.int_value());
    case v1::Attribute::kDoubleValue:
      return proto.double_value();
    case v1::Attribute::kStringValue:
      return std::string(proto.string_value());
    case v1::Attribute::kInts:
      return std::vector<int64_t>(proto.ints().values().begin(), proto.ints().values().end());
    case v1::Attribute::kDoubles:
      return std::vector<double>(proto.doubles().values().begin(), proto.doubles().values().end());
    case v1::Attribute::VALUE_NOT_SET:
      break;
  }
  return NoneValue{};
}

template <typename List>
void NamedTensorsToProto(absl::Span<const NamedTensor> tensors, List* list) {
  for (const NamedTensor& tensor : tensors) {
    v1::NamedTensor* proto = list->Add();
    proto->set_name(tensor.name);
    TypeToProto(tensor.type, proto->mutable_type());
  }
}

// One reading of one message; keeps what every step needs.
class Reader {
 public:
  Reader(const v1::Graph& proto, const GraphLimits& limits) : proto_(proto), limits_(limits), builder_(limits) {
    for (const std::string& file : proto.source_files()) files_.push_back(std::make_shared<const std::string>(file));
  }

  absl::StatusOr<Graph> Read() && {
    if (proto_.nodes_size() > limits_.max_nodes) {
      return Error(Diagnostic::Kind::kLimit, absl::StrCat("graph: ", proto_.nodes_size(),
                                                          " calls are more than the limit of ", limits_.max_nodes));
    }
    using K = ValueRef::Kind;
    COBRA_RETURN_IF_ERROR(AddTensors(proto_.inputs(), K::kInput, [this](auto&&... a) { builder_.AddInput(a...); }));
    COBRA_RETURN_IF_ERROR(
        AddTensors(proto_.parameters(), K::kParameter, [this](auto&&... a) { builder_.AddParameter(a...); }));
    COBRA_RETURN_IF_ERROR(AddTensors(proto_.buffers(), K::kBuffer, [this](auto&&... a) { builder_.AddBuffer(a...); }));
    COBRA_RETURN_IF_ERROR(
        AddTensors(proto_.constants(), K::kConstant, [this](auto&&... a) { builder_.AddConstant(a...); }));
    for (const v1::ParameterAlias& alias : proto_.parameter_aliases()) {
      if (alias.parameter() < 0 || alias.parameter() >= proto_.parameters_size()) {
        return Error(Diagnostic::Kind::kUsage, absl::StrCat("graph: alias ", alias.name(), " names no parameter"));
      }
      builder_.AddParameterAlias(alias.name(), ValueRef::Parameter(alias.parameter()));
    }
    for (const v1::Node& node : proto_.nodes()) COBRA_RETURN_IF_ERROR(AddNode(node));
    position_ = {};
    std::vector<ValueRef> outputs;
    for (const v1::ValueRef& output : proto_.outputs()) {
      COBRA_ASSIGN_OR_RETURN(ValueRef ref, RefFromProto(output, "output of the graph"));
      if (ref.is_none()) return Error(Diagnostic::Kind::kUsage, "graph: an output is not set");
      outputs.push_back(ref);
    }
    return std::move(builder_).Build(std::move(outputs));
  }

 private:
  absl::Status Error(Diagnostic::Kind kind, std::string message) const {
    Diagnostic d;
    d.kind = kind;
    d.message = std::move(message);
    d.position = position_;
    return DiagnosticToStatus(d);
  }

  // Checks what the shape rules rely on: a known element type, no negative size, and a byte count that does not
  // overflow.
  absl::StatusOr<TensorType> TypeFromProto(const v1::TensorType& proto, absl::string_view what) const {
    std::optional<DType> dtype = DTypeFromProto(proto.dtype());
    if (!dtype.has_value()) return Error(Diagnostic::Kind::kUsage, absl::StrCat(what, ": no such element type"));
    TensorType type;
    type.dtype = *dtype;
    if (proto.shape_size() > 64)
      return Error(Diagnostic::Kind::kUsage, absl::StrCat(what, ": more than 64 dimensions"));
    int64_t left = limits_.max_tensor_bytes / DTypeBytes(*dtype);
    for (int64_t size : proto.shape()) {
      if (size < 0) return Error(Diagnostic::Kind::kUsage, absl::StrCat(what, ": size ", size, " is negative"));
      if (size > left) {
        return Error(Diagnostic::Kind::kLimit,
                     absl::StrCat(what, ": larger than the limit of ", limits_.max_tensor_bytes, " bytes"));
      }
      if (size > 0) left /= size;
      type.shape.push_back(size);
    }
    return type;
  }

  template <typename List, typename Add>
  absl::Status AddTensors(const List& list, ValueRef::Kind kind, Add add) {
    for (const v1::NamedTensor& tensor : list) {
      COBRA_ASSIGN_OR_RETURN(TensorType type, TypeFromProto(tensor.type(), absl::StrCat("graph: ", tensor.name())));
      add(tensor.name(), std::move(type));
    }
    counts_[kind] = list.size();
    return absl::OkStatus();
  }

  absl::StatusOr<ValueRef> RefFromProto(const v1::ValueRef& proto, absl::string_view what) const {
    if (proto.kind() == v1::ValueRef::KIND_NONE) return ValueRef::None();
    const ValueRef ref{static_cast<ValueRef::Kind>(proto.kind()), proto.index(), proto.output()};
    const auto nodes = builder_.nodes();
    bool valid = false;
    if (ref.is_node()) {
      valid = ref.index >= 0 && ref.index < static_cast<int64_t>(nodes.size()) && ref.output >= 0 &&
              ref.output < static_cast<int64_t>(nodes[ref.index].outputs.size());
    } else if (auto count = counts_.find(ref.kind); count != counts_.end()) {
      valid = ref.index >= 0 && ref.index < count->second && ref.output == 0;
    }
    if (valid) return ref;
    return Error(Diagnostic::Kind::kUsage,
                 absl::StrCat(what, " refers to ", v1::ValueRef::Kind_Name(proto.kind()), " ", proto.index(), ":",
                              proto.output(), ", which does not exist before it"));
  }

  absl::Status AddNode(const v1::Node& proto) {
    Origin origin = OriginFromProto(proto.origin());
    position_ = {origin.file ? *origin.file : "", origin.line, 0};
    std::optional<Op> op = OpFromName(proto.op());
    if (!op.has_value()) {
      return Error(Diagnostic::Kind::kUnsupported, absl::StrCat(proto.op(), ": no such operator in this server"));
    }
    Attributes attributes;
    for (const v1::Attribute& a : proto.attributes()) attributes.Set(a.name(), AttributeFromProto(a));
    std::vector<ValueRef> inputs;
    for (const v1::ValueRef& input : proto.inputs()) {
      COBRA_ASSIGN_OR_RETURN(ValueRef ref, RefFromProto(input, absl::StrCat(proto.op(), ": an argument")));
      inputs.push_back(ref);
    }
    absl::StatusOr<int32_t> index =
        builder_.Add(*op, std::move(attributes), std::move(inputs), std::move(origin), proto.inplace());
    if (!index.ok()) {
      if (DiagnosticFromStatus(index.status()).has_value()) return index.status();
      const bool limit = absl::IsResourceExhausted(index.status());
      return Error(limit ? Diagnostic::Kind::kLimit : Diagnostic::Kind::kModelError,
                   std::string(index.status().message()));
    }
    return CheckOutputs(proto, *index);
  }

  absl::Status CheckOutputs(const v1::Node& proto, int32_t index) const {
    if (proto.outputs_size() == 0) return absl::OkStatus();
    const std::vector<TensorType>& inferred = builder_.nodes()[index].outputs;
    bool same = proto.outputs_size() == static_cast<int>(inferred.size());
    for (int i = 0; same && i < proto.outputs_size(); ++i) {
      COBRA_ASSIGN_OR_RETURN(TensorType given, TypeFromProto(proto.outputs(i), absl::StrCat(proto.op(), ": a result")));
      same = given == inferred[i];
    }
    if (same) return absl::OkStatus();
    std::string shapes;
    for (const TensorType& type : inferred) absl::StrAppend(&shapes, shapes.empty() ? "" : ", ", TypeText(type));
    return Error(Diagnostic::Kind::kModelError,
                 absl::StrCat(proto.op(), ": the results given are not those inferred (", shapes, ")"));
  }

  Origin OriginFromProto(const v1::Origin& proto) const {
    Origin origin;
    if (proto.file() > 0 && proto.file() <= static_cast<int64_t>(files_.size())) origin.file = files_[proto.file() - 1];
    origin.line = proto.line() > 0 ? proto.line() : 0;
    origin.module_path = proto.module_path();
    return origin;
  }

  const v1::Graph& proto_;
  const GraphLimits limits_;
  GraphBuilder builder_;
  std::vector<std::shared_ptr<const std::string>> files_;
  std::map<ValueRef::Kind, int64_t> counts_;
  SourcePosition position_;  // of the call that is being read
};

}  // namespace

void GraphToProto(const Graph& graph, v1::Graph* proto) {
  NamedTensorsToProto(graph.inputs(), proto->mutable_inputs());
  NamedTensorsToProto(graph.parameters(), proto->mutable_parameters());
  NamedTensorsToProto(graph.buffers(), proto->mutable_buffers());
  NamedTensorsToProto(graph.constants(), proto->mutable_constants());
  for (const auto& [name, parameter] : graph.parameter_aliases()) {
    v1::ParameterAlias* alias = proto->add_parameter_aliases();
    alias->set_name(name);
    alias->set_parameter(parameter);
  }
  std::map<std::string, int> files;  // 1-based position of a file name
  for (const Node& node : graph.nodes()) {
    v1::Node* out = proto->add_nodes();
    out->set_op(std::string(OpName(node.op)));
    for (const Attributes::Entry& entry : node.attributes) AttributeToProto(entry, out->add_attributes());
    for (ValueRef input : node.inputs) RefToProto(input, out->add_inputs());
    for (const TensorType& type : node.outputs) TypeToProto(type, out->add_outputs());
    out->set_inplace(node.inplace);
    v1::Origin* origin = out->mutable_origin();
    if (node.origin.file != nullptr) {
      auto [entry, added] = files.emplace(*node.origin.file, static_cast<int>(files.size()) + 1);
      if (added) proto->add_source_files(*node.origin.file);
      origin->set_file(entry->second);
    }
    origin->set_line(node.origin.line);
    origin->set_module_path(node.origin.module_path);
  }
  for (ValueRef output : graph.outputs()) RefToProto(output, proto->add_outputs());
}

absl::StatusOr<Graph> GraphFromProto(const v1::Graph& proto, const GraphLimits& limits) {
  return Reader(proto, limits).Read();
}

}  // namespace cobra
