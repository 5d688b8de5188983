#include "proto/graph_proto.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/diagnostic.h"
#include "base/limit_message.h"
#include "base/status_macros.h"
#include "graph/untrusted.h"

namespace cobra::proto {
namespace {

// The enum names of graph.proto are those of graph/types.h in capitals, so that the list of types is written once.
constexpr int kNumDTypes = v1::DType_ARRAYSIZE - 1;  // without DTYPE_UNSPECIFIED

std::array<v1::DType, kNumDTypes> ProtoOfDTypes() {
  std::array<v1::DType, kNumDTypes> protos{};
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<graph::DType>(i);
    v1::DType_Parse(absl::StrCat("DTYPE_", absl::AsciiStrToUpper(graph::DTypeName(dtype))), &protos[i]);
  }
  return protos;
}

v1::DType DTypeToProto(graph::DType dtype) {
  static const std::array<v1::DType, kNumDTypes> kProtos = ProtoOfDTypes();
  return kProtos[static_cast<size_t>(dtype)];
}

std::optional<graph::DType> DTypeFromProto(v1::DType proto) {
  for (int i = 0; i < kNumDTypes; ++i) {
    if (DTypeToProto(static_cast<graph::DType>(i)) == proto) return static_cast<graph::DType>(i);
  }
  return std::nullopt;
}

void TypeToProto(const graph::TensorType& type, v1::TensorType* proto) {
  for (int64_t size : type.shape) proto->add_shape(size);
  proto->set_dtype(DTypeToProto(type.dtype));
}

// ValueRef::Kind and v1::ValueRef::Kind have the same members in the same order.
static_assert(static_cast<int>(graph::ValueRef::Kind::kNode) == v1::ValueRef::KIND_NODE);
static_assert(static_cast<int>(graph::ValueRef::Kind::kConstant) == v1::ValueRef::KIND_CONSTANT);

void RefToProto(graph::ValueRef ref, v1::ValueRef* proto) {
  proto->set_kind(static_cast<v1::ValueRef::Kind>(ref.kind));
  proto->set_index(ref.index);
  proto->set_output(ref.output);
}

void AttributeToProto(const graph::Attributes::Entry& entry, v1::Attribute* proto) {
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

// "node", "parameter"; "" for a number that is not a kind.
std::string KindText(v1::ValueRef::Kind kind) {
  return absl::AsciiStrToLower(absl::StripPrefix(v1::ValueRef::Kind_Name(kind), "KIND_"));
}

graph::AttributeValue AttributeFromProto(const v1::Attribute& proto) {
  switch (proto.value_case()) {
    case v1::Attribute::kBoolValue: return proto.bool_value();
    case v1::Attribute::kIntValue: return static_cast<int64_t>(proto.int_value());
    case v1::Attribute::kDoubleValue: return proto.double_value();
    case v1::Attribute::kStringValue: return std::string(proto.string_value());
    case v1::Attribute::kInts: return std::vector<int64_t>(proto.ints().values().begin(), proto.ints().values().end());
    case v1::Attribute::kDoubles:
      return std::vector<double>(proto.doubles().values().begin(), proto.doubles().values().end());
    case v1::Attribute::VALUE_NOT_SET: break;
  }
  return graph::NoneValue{};
}

template <typename List>
void NamedTensorsToProto(absl::Span<const graph::NamedTensor> tensors, List* list) {
  for (const graph::NamedTensor& tensor : tensors) {
    v1::NamedTensor* proto = list->Add();
    proto->set_name(tensor.name);
    TypeToProto(tensor.type, proto->mutable_type());
  }
}

// Reads one message; keeps the state that every step needs. What an error is about is put into words only when there is
// one: most messages have none.
using What = absl::FunctionRef<std::string()>;

class Reader {
 public:
  Reader(const v1::Graph& proto, const GraphLimits& limits) : proto_(proto), limits_(limits), builder_(limits) {
    for (const std::string& file : proto.source_files()) files_.push_back(std::make_shared<const std::string>(file));
  }

  absl::StatusOr<graph::Graph> Read() && {
    if (proto_.nodes_size() > limits_.max_nodes) {
      return Error(Diagnostic::Kind::kLimit, LimitMessage("", proto_.nodes_size(), limits_.max_nodes, "calls"));
    }
    using K = graph::ValueRef::Kind;
    for (const std::string& file : proto_.source_files()) COBRA_RETURN_IF_ERROR(CheckName(file, "source file"));
    COBRA_RETURN_IF_ERROR(
        AddTensors(proto_.inputs(), K::kInput, nullptr, [this](auto&&... a) { builder_.AddInput(a...); }));
    COBRA_RETURN_IF_ERROR(AddTensors(proto_.parameters(), K::kParameter, &parameter_names_,
                                     [this](auto&&... a) { builder_.AddParameter(a...); }));
    COBRA_RETURN_IF_ERROR(
        AddTensors(proto_.buffers(), K::kBuffer, &buffer_names_, [this](auto&&... a) { builder_.AddBuffer(a...); }));
    COBRA_RETURN_IF_ERROR(
        AddTensors(proto_.constants(), K::kConstant, nullptr, [this](auto&&... a) { builder_.AddConstant(a...); }));
    COBRA_RETURN_IF_ERROR(AddAliases());
    if (proto_.folded_macs() < 0) return Wrong(absl::StrCat("folded_macs ", proto_.folded_macs(), " is negative"));
    builder_.AddFoldedMacs(proto_.folded_macs());
    for (const v1::Node& node : proto_.nodes()) COBRA_RETURN_IF_ERROR(AddNode(node));
    node_ = nullptr;
    std::vector<graph::ValueRef> outputs;
    for (const v1::ValueRef& output : proto_.outputs()) {
      const auto what = [&] { return absl::StrCat("output ", outputs.size()); };
      COBRA_ASSIGN_OR_RETURN(graph::ValueRef ref, RefFromProto(output, what));
      if (ref.is_none()) return Wrong(absl::StrCat(what(), " is not set"));
      outputs.push_back(ref);
    }
    return std::move(builder_).Build(std::move(outputs));
  }

 private:
  // `message` begins with the node or the tensor that it is about.
  absl::Status Error(Diagnostic::Kind kind, absl::string_view message) const {
    Diagnostic d;
    d.kind = kind;
    if (node_ == nullptr) {
      d.message = absl::StrCat("graph: ", message);
    } else {
      d.message = absl::StrCat(graph::NodeText(node_index_, node_->op()), ": ", message);
      const v1::Origin& origin = node_->origin();
      if (const std::string* file = FileOrNull(origin.file())) d.position.file = *file;
      d.position.line = origin.line();
      d.module_path = origin.module_path();
    }
    return DiagnosticToStatus(d);
  }
  absl::Status Wrong(absl::string_view message) const { return Error(Diagnostic::Kind::kUsage, message); }
  // Reports an error of the builder or of a type check. `kind` is the kind of an error that is not a limit.
  absl::Status Refused(const absl::Status& status, absl::string_view what, Diagnostic::Kind kind) const {
    if (DiagnosticFromStatus(status).has_value()) return status;
    return Error(absl::IsResourceExhausted(status) ? Diagnostic::Kind::kLimit : kind,
                 absl::StrCat(what, what.empty() ? "" : ": ", status.message()));
  }

  absl::Status CheckName(absl::string_view name, absl::string_view what) const {
    const absl::Status length = graph::CheckNameLength(name);
    return length.ok()
               ? length
               : Refused(length, absl::StrCat(what, " \"", graph::Quoted(name), "\""), Diagnostic::Kind::kUsage);
  }

  absl::StatusOr<graph::TensorType> TypeFromProto(const v1::TensorType& proto, What what) const {
    std::optional<graph::DType> dtype = DTypeFromProto(proto.dtype());
    if (!dtype.has_value()) return Wrong(absl::StrCat(what(), ": no such element type"));
    graph::TensorType type;
    type.dtype = *dtype;
    type.shape.assign(proto.shape().begin(), proto.shape().end());
    if (absl::Status status = graph::CheckTensorType(type, limits_); !status.ok()) {
      return Refused(status, what(), Diagnostic::Kind::kUsage);
    }
    return type;
  }

  // `unique`: two tensors of the same name would be ambiguous in the graph's JSON form.
  template <typename List, typename Add>
  absl::Status AddTensors(const List& list, graph::ValueRef::Kind kind, graph::UniqueNames* unique, Add add) {
    int64_t& count = counts_[static_cast<size_t>(kind)];
    for (const v1::NamedTensor& tensor : list) {
      const auto what = [&] {
        const std::string numbered = absl::StrCat(KindText(static_cast<v1::ValueRef::Kind>(kind)), " ", count);
        return tensor.name().empty() ? numbered : absl::StrCat(numbered, " \"", graph::Quoted(tensor.name()), "\"");
      };
      COBRA_RETURN_IF_ERROR(CheckName(tensor.name(), "the name"));
      COBRA_ASSIGN_OR_RETURN(graph::TensorType type, TypeFromProto(tensor.type(), what));
      if (unique != nullptr && !unique->Add(tensor.name()))
        return Wrong(absl::StrCat(what(), ": another one has this name"));
      add(tensor.name(), std::move(type));
      ++count;
    }
    return absl::OkStatus();
  }

  absl::Status AddAliases() {
    for (const v1::ParameterAlias& alias : proto_.parameter_aliases()) {
      const std::string what = absl::StrCat("parameter alias \"", graph::Quoted(alias.name()), "\"");
      COBRA_RETURN_IF_ERROR(CheckName(alias.name(), "parameter alias"));
      if (alias.parameter() < 0 || alias.parameter() >= proto_.parameters_size()) {
        return Wrong(absl::StrCat(what, " names no parameter"));
      }
      if (alias.name().empty() || !parameter_names_.Add(alias.name()))
        return Wrong(absl::StrCat(what, " is not a new name"));
      builder_.AddParameterAlias(alias.name(), graph::ValueRef::Parameter(alias.parameter()));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<graph::ValueRef> RefFromProto(const v1::ValueRef& proto, What what) const {
    if (proto.kind() == v1::ValueRef::KIND_NONE && proto.index() == 0 && proto.output() == 0)
      return graph::ValueRef::None();
    const graph::ValueRef ref{static_cast<graph::ValueRef::Kind>(proto.kind()), proto.index(), proto.output()};
    const auto nodes = builder_.nodes();
    bool valid = false;
    if (ref.is_node()) {
      valid = ref.index >= 0 && ref.index < static_cast<int64_t>(nodes.size()) && ref.output >= 0 &&
              ref.output < static_cast<int64_t>(nodes[ref.index].outputs.size());
    } else if (static_cast<size_t>(ref.kind) < counts_.size()) {
      valid = ref.index >= 0 && ref.index < counts_[static_cast<size_t>(ref.kind)] && ref.output == 0;
    }
    if (valid) return ref;
    const std::string kind = KindText(proto.kind());
    return Wrong(absl::StrCat(what(), " is ", kind.empty() ? "of an unknown kind" : kind, " ", proto.index(),
                              proto.output() != 0 ? absl::StrCat(", output ", proto.output()) : "",
                              ref.is_node() ? ": no output of an earlier node" : ": there is none"));
  }

  absl::StatusOr<graph::Attributes> AttributesFromProto(const v1::Node& proto) const {
    graph::Attributes attributes;
    for (const v1::Attribute& a : proto.attributes()) {
      if (attributes.Find(a.name()) != nullptr)
        return Wrong(absl::StrCat("argument '", graph::Quoted(a.name()), "' occurs twice"));
      attributes.Set(a.name(), AttributeFromProto(a));
    }
    if (absl::Status status = graph::CheckAttributeTypes(attributes); !status.ok()) {
      return Refused(status, "", Diagnostic::Kind::kUsage);
    }
    return attributes;
  }

  absl::Status AddNode(const v1::Node& proto) {
    node_ = &proto;
    node_index_ = static_cast<int64_t>(builder_.nodes().size());
    COBRA_ASSIGN_OR_RETURN(graph::Origin origin, OriginFromProto(proto.origin()));
    std::optional<graph::Op> op = graph::OpFromName(proto.op());
    if (!op.has_value()) return Error(Diagnostic::Kind::kUnsupported, "no such operator in this version");
    // The lookup of names makes this quadratic in the number of attributes.
    if (proto.attributes_size() > kMaxAttributes)
      return Wrong(LimitMessage("", proto.attributes_size(), kMaxAttributes, "arguments"));
    COBRA_ASSIGN_OR_RETURN(graph::Attributes attributes, AttributesFromProto(proto));
    std::vector<graph::ValueRef> inputs;
    for (const v1::ValueRef& input : proto.inputs()) {
      COBRA_ASSIGN_OR_RETURN(graph::ValueRef ref,
                             RefFromProto(input, [&] { return absl::StrCat("tensor ", inputs.size()); }));
      inputs.push_back(ref);
    }
    absl::StatusOr<int32_t> index =
        builder_.Add(*op, std::move(attributes), std::move(inputs), std::move(origin), proto.inplace());
    if (!index.ok()) return Refused(index.status(), "", Diagnostic::Kind::kModelError);
    return CheckOutputs(proto, *index);
  }

  absl::Status CheckOutputs(const v1::Node& proto, int32_t index) const {
    if (proto.outputs_size() == 0) return absl::OkStatus();
    const std::vector<graph::TensorType>& inferred = builder_.nodes()[index].outputs;
    std::vector<graph::TensorType> given;
    for (const v1::TensorType& output : proto.outputs()) {
      const auto what = [&] { return absl::StrCat("result ", given.size()); };
      COBRA_ASSIGN_OR_RETURN(given.emplace_back(), TypeFromProto(output, what));
    }
    if (given == inferred) return absl::OkStatus();
    const auto append = [](std::string* out, const graph::TensorType& type) { out->append(graph::TypeText(type)); };
    const std::string inferred_text = absl::StrJoin(inferred, ", ", append);
    given.resize(std::min<size_t>(given.size(), 3));
    const std::string given_text = absl::StrJoin(given, ", ", append);
    return Error(Diagnostic::Kind::kModelError, absl::StrCat("declares the output ", graph::Quoted(given_text),
                                                             ", its arguments give ", graph::Quoted(inferred_text)));
  }

  const std::string* FileOrNull(int64_t position) const {
    return position > 0 && position <= static_cast<int64_t>(files_.size()) ? files_[position - 1].get() : nullptr;
  }

  absl::StatusOr<graph::Origin> OriginFromProto(const v1::Origin& proto) const {
    graph::Origin origin;
    if (proto.file() < 0 || proto.file() > static_cast<int64_t>(files_.size()) || proto.line() < 0) {
      return Wrong(absl::StrCat("its origin is line ", proto.line(), " of file ", proto.file(), ", and there are ",
                                files_.size(), " files"));
    }
    if (proto.made_file() < 0 || proto.made_file() > static_cast<int64_t>(files_.size()) || proto.made_line() < 0) {
      return Wrong(absl::StrCat("its layer was made in line ", proto.made_line(), " of file ", proto.made_file(),
                                ", and there are ", files_.size(), " files"));
    }
    COBRA_RETURN_IF_ERROR(CheckName(proto.module_path(), "module"));
    if (proto.file() > 0) origin.file = files_[proto.file() - 1];
    if (proto.made_file() > 0) origin.made_file = files_[proto.made_file() - 1];
    origin.line = proto.line();
    origin.made_line = proto.made_line();
    origin.module_path = proto.module_path();
    return origin;
  }

  static constexpr int kMaxAttributes = 64;  // PyTorch's longest signature has some twenty

  const v1::Graph& proto_;
  const GraphLimits limits_;
  graph::GraphBuilder builder_;
  std::vector<std::shared_ptr<const std::string>> files_;
  std::array<int64_t, v1::ValueRef::Kind_ARRAYSIZE> counts_{};  // of the tensors read, by their kind
  graph::UniqueNames parameter_names_, buffer_names_;
  const v1::Node* node_ = nullptr;  // the call that is being read, or null
  int64_t node_index_ = 0;
};

}  // namespace

void GraphToProto(const graph::Graph& graph, v1::Graph* proto) {
  NamedTensorsToProto(graph.inputs(), proto->mutable_inputs());
  NamedTensorsToProto(graph.parameters(), proto->mutable_parameters());
  NamedTensorsToProto(graph.buffers(), proto->mutable_buffers());
  NamedTensorsToProto(graph.constants(), proto->mutable_constants());
  for (const auto& [name, parameter] : graph.parameter_aliases()) {
    v1::ParameterAlias* alias = proto->add_parameter_aliases();
    alias->set_name(name);
    alias->set_parameter(parameter);
  }
  proto->set_folded_macs(graph.folded_macs());
  std::map<absl::string_view, int> files;  // 1-based position of a file name
  for (const graph::Node& node : graph.nodes()) {
    v1::Node* out = proto->add_nodes();
    out->set_op(std::string(graph::OpName(node.op)));
    for (const graph::Attributes::Entry& entry : node.attributes) AttributeToProto(entry, out->add_attributes());
    for (graph::ValueRef input : node.inputs) RefToProto(input, out->add_inputs());
    for (const graph::TensorType& type : node.outputs) TypeToProto(type, out->add_outputs());
    out->set_inplace(node.inplace);
    v1::Origin* origin = out->mutable_origin();
    const auto position_of = [&](const std::string& file) {
      auto [entry, added] = files.try_emplace(file, static_cast<int>(files.size()) + 1);
      if (added) proto->add_source_files(file);
      return entry->second;
    };
    if (node.origin.file != nullptr) origin->set_file(position_of(*node.origin.file));
    if (node.origin.made_file != nullptr) origin->set_made_file(position_of(*node.origin.made_file));
    origin->set_line(node.origin.line);
    origin->set_made_line(node.origin.made_line);
    origin->set_module_path(node.origin.module_path);
  }
  for (graph::ValueRef output : graph.outputs()) RefToProto(output, proto->add_outputs());
}

absl::StatusOr<graph::Graph> GraphFromProto(const v1::Graph& proto, const GraphLimits& limits) {
  return Reader(proto, limits).Read();
}

}  // namespace cobra::proto
