// The bytes are never copied into a message: a field is found where it stands, and a list is gone
// through once more when its turn comes, since fields may stand in any order.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/text/utf8.h"
#include "graph/builder/untrusted.h"
#include "proto/graph_fields.h"
#include "proto/graph_proto.h"

namespace cobra::proto {
namespace {

// "node", "parameter"; "" for a number that is not a kind.
std::string KindText(int kind) {
  return absl::AsciiStrToLower(
      absl::StripPrefix(v1::ValueRef::Kind_Name(static_cast<v1::ValueRef::Kind>(kind)), "KIND_"));
}

// Reads one graph; keeps the state that every step needs. What an error is about is put into words
// only when there is one: most graphs have none.
using What = absl::FunctionRef<std::string()>;

class Reader {
 public:
  explicit Reader(const GraphLimits& limits) : limits_(limits), builder_(limits) {}

  absl::StatusOr<graph::Graph> Read(absl::string_view bytes) && {
    if (!fields_.Merge(bytes)) return Malformed();
    const int64_t calls = List(v1::Graph::kNodesFieldNumber).count;
    if (calls > limits_.max_nodes)
      return Error(Diagnostic::Kind::kLimit, LimitMessage("", calls, limits_.max_nodes, "calls"));
    const int64_t files = List(v1::Graph::kSourceFilesFieldNumber).count;
    if (files > kSourceFilesOfCall * limits_.max_nodes)
      return Error(Diagnostic::Kind::kLimit,
                   LimitMessage("", files, kSourceFilesOfCall * limits_.max_nodes, "source files"));
    COBRA_RETURN_IF_ERROR(Each(v1::Graph::kSourceFilesFieldNumber, [this](absl::string_view file) -> absl::Status {
      if (!IsUtf8(file)) return Malformed();
      COBRA_RETURN_IF_ERROR(CheckName(file, "source file"));
      files_.push_back(std::make_shared<const std::string>(file));
      return absl::OkStatus();
    }));
    const int64_t tensors = NumTensors();
    if (tensors > kTensorsOfCall * limits_.max_nodes)
      return Error(Diagnostic::Kind::kLimit, LimitMessage("", tensors, kTensorsOfCall * limits_.max_nodes, "tensors"));
    COBRA_RETURN_IF_ERROR(AddAllTensors());
    COBRA_RETURN_IF_ERROR(AddAliases());
    COBRA_RETURN_IF_ERROR(Each(v1::Graph::kNodesFieldNumber, [this](absl::string_view node) { return AddNode(node); }));
    node_ = nullptr;
    std::vector<graph::ValueRef> outputs;
    COBRA_RETURN_IF_ERROR(Each(v1::Graph::kOutputsFieldNumber, [&](absl::string_view output) -> absl::Status {
      const auto what = [&] { return absl::StrCat("output ", outputs.size()); };
      COBRA_ASSIGN_OR_RETURN(graph::ValueRef ref, ReadRef(output, what));
      if (ref.is_none()) return Wrong(absl::StrCat(what(), " is not set"));
      outputs.push_back(ref);
      return absl::OkStatus();
    }));
    return std::move(builder_).Build(std::move(outputs));
  }

 private:
  const FieldRange& List(int number) const { return fields_.lists[static_cast<size_t>(number)]; }
  template <typename With>
  absl::Status Each(int number, With with) const {
    return EachOf(List(number), number, with);
  }

  // `message` begins with the node or the tensor that it is about.
  absl::Status Error(Diagnostic::Kind kind, absl::string_view message) const {
    Diagnostic d;
    d.kind = kind;
    if (node_ == nullptr) {
      d.message = absl::StrCat("graph: ", message);
    } else {
      d.message = absl::StrCat(graph::NodeText(node_index_, node_->op), ": ", message);
      const OriginFields& origin = node_->origin;
      if (const std::string* file = FileOrNull(origin.file)) d.position.file = *file;
      d.position.line = origin.line;
      d.module_path = std::string(origin.module_path);
    }
    return DiagnosticToStatus(d);
  }
  absl::Status Wrong(absl::string_view message) const { return Error(Diagnostic::Kind::kUsage, message); }
  absl::Status Malformed() const { return Wrong("the bytes are not a message of cobra.v1.Graph"); }
  // Reports an error of the builder or of a type check. `kind` is the kind of an error that is not
  // a limit.
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

  absl::StatusOr<graph::TensorType> CheckType(TypeFields fields, What what) const {
    const std::optional<graph::DType> dtype = DTypeFromProto(fields.dtype);
    if (!dtype.has_value()) return Wrong(absl::StrCat(what(), ": no such element type"));
    if (fields.rank > limits_.max_rank)
      return Wrong(absl::StrCat(what(), ": ", LimitMessage("", fields.rank, limits_.max_rank, "dimensions")));
    graph::TensorType type{std::move(fields.shape), *dtype};
    if (absl::Status status = graph::CheckTensorType(type, limits_); !status.ok())
      return Refused(status, what(), Diagnostic::Kind::kUsage);
    return type;
  }

  int64_t NumTensors() const {
    int64_t n = 0;
    for (int number : {v1::Graph::kInputsFieldNumber, v1::Graph::kParametersFieldNumber, v1::Graph::kBuffersFieldNumber,
                       v1::Graph::kConstantsFieldNumber, v1::Graph::kParameterAliasesFieldNumber})
      n += List(number).count;
    return n;
  }

  absl::Status AddAllTensors() {
    using K = graph::ValueRef::Kind;
    COBRA_RETURN_IF_ERROR(AddTensors(v1::Graph::kInputsFieldNumber, K::kInput, nullptr,
                                     [this](auto&&... a) { builder_.AddInput(a...); }));
    COBRA_RETURN_IF_ERROR(AddTensors(v1::Graph::kParametersFieldNumber, K::kParameter, &parameter_names_,
                                     [this](auto&&... a) { builder_.AddParameter(a...); }));
    COBRA_RETURN_IF_ERROR(AddTensors(v1::Graph::kBuffersFieldNumber, K::kBuffer, &buffer_names_,
                                     [this](auto&&... a) { builder_.AddBuffer(a...); }));
    return AddTensors(v1::Graph::kConstantsFieldNumber, K::kConstant, nullptr,
                      [this](auto&&... a) { builder_.AddConstant(a...); });
  }

  // `unique`: two tensors of the same name would be ambiguous in the graph's JSON form.
  template <typename Add>
  absl::Status AddTensors(int number, graph::ValueRef::Kind kind, graph::UniqueNames* unique, Add add) {
    int64_t& count = counts_[static_cast<size_t>(kind)];
    return Each(number, [&](absl::string_view bytes) -> absl::Status {
      TensorFields tensor;
      if (!tensor.Merge(bytes, limits_.max_rank)) return Malformed();
      const auto what = [&] {
        const std::string numbered = absl::StrCat(KindText(static_cast<int>(kind)), " ", count);
        return tensor.name.empty() ? numbered : absl::StrCat(numbered, " \"", graph::Quoted(tensor.name), "\"");
      };
      COBRA_RETURN_IF_ERROR(CheckName(tensor.name, "the name"));
      COBRA_ASSIGN_OR_RETURN(graph::TensorType type, CheckType(std::move(tensor.type), what));
      dimensions_left_ -= type.rank() + 1;  // each takes eight times its byte
      if (dimensions_left_ < 0)
        return Error(Diagnostic::Kind::kLimit, LimitMessage("", limits_.max_dimensions, "dimensions of tensors"));
      if (unique != nullptr && !unique->Add(tensor.name))
        return Wrong(absl::StrCat(what(), ": another one has this name"));
      add(tensor.name, std::move(type));
      ++count;
      return absl::OkStatus();
    });
  }

  absl::Status AddAliases() {
    return Each(v1::Graph::kParameterAliasesFieldNumber, [this](absl::string_view bytes) -> absl::Status {
      AliasFields alias;
      if (!alias.Merge(bytes)) return Malformed();
      const auto what = [&] { return absl::StrCat("parameter alias \"", graph::Quoted(alias.name), "\""); };
      COBRA_RETURN_IF_ERROR(CheckName(alias.name, "parameter alias"));
      if (alias.parameter < 0 || alias.parameter >= counts_[static_cast<size_t>(graph::ValueRef::Kind::kParameter)])
        return Wrong(absl::StrCat(what(), " names no parameter"));
      if (alias.name.empty() || !parameter_names_.Add(alias.name))
        return Wrong(absl::StrCat(what(), " is not a new name"));
      builder_.AddParameterAlias(alias.name, graph::ValueRef::Parameter(alias.parameter));
      return absl::OkStatus();
    });
  }

  absl::StatusOr<graph::ValueRef> ReadRef(absl::string_view bytes, What what) const {
    RefFields fields;
    if (!fields.Merge(bytes)) return Malformed();
    if (fields.kind == v1::ValueRef::KIND_NONE && fields.index == 0 && fields.output == 0)
      return graph::ValueRef::None();
    const bool known = fields.kind > 0 && fields.kind < v1::ValueRef::Kind_ARRAYSIZE;
    const graph::ValueRef ref{known ? static_cast<graph::ValueRef::Kind>(fields.kind) : graph::ValueRef::Kind::kNone,
                              fields.index, fields.output};
    const auto nodes = builder_.nodes();
    bool valid = false;
    if (ref.is_node()) {
      valid = ref.index >= 0 && ref.index < static_cast<int64_t>(nodes.size()) && ref.output >= 0 &&
              ref.output < static_cast<int64_t>(nodes[ref.index].outputs.size());
    } else if (known) {
      valid = ref.index >= 0 && ref.index < counts_[static_cast<size_t>(ref.kind)] && ref.output == 0;
    }
    if (valid) return ref;
    const std::string kind = KindText(fields.kind);
    return Wrong(absl::StrCat(what(), " is ", kind.empty() ? "of an unknown kind" : kind, " ", fields.index,
                              fields.output != 0 ? absl::StrCat(", output ", fields.output) : "",
                              ref.is_node() ? ": no output of an earlier node" : ": there is none"));
  }

  absl::Status TooManyNumbers() const {
    return Error(Diagnostic::Kind::kLimit, LimitMessage("its arguments", limits_.max_json_values, "numbers"));
  }

  absl::StatusOr<graph::Attributes> ReadAttributes(const FieldRange& list) {
    graph::Attributes attributes;
    attributes.Reserve(static_cast<size_t>(list.count));
    COBRA_RETURN_IF_ERROR(EachOf(list, v1::Node::kAttributesFieldNumber, [&](absl::string_view bytes) -> absl::Status {
      AttributeFields attribute{{}, {}, &numbers_left_};
      if (!attribute.Merge(bytes)) return numbers_left_ < 0 ? TooManyNumbers() : Malformed();
      if (attributes.Find(attribute.name) != nullptr)
        return Wrong(absl::StrCat("argument '", graph::Quoted(attribute.name), "' occurs twice"));
      attributes.Append(attribute.name, std::move(attribute.value));
      return absl::OkStatus();
    }));
    if (absl::Status status = graph::CheckAttributeTypes(attributes); !status.ok())
      return Refused(status, "", Diagnostic::Kind::kUsage);
    return attributes;
  }

  absl::Status AddNode(absl::string_view bytes) {
    NodeFields node;
    node_ = nullptr;
    node_index_ = static_cast<int64_t>(builder_.nodes().size());
    if (!node.Merge(bytes)) return Malformed();
    node_ = &node;
    COBRA_ASSIGN_OR_RETURN(graph::Origin origin, CheckOrigin(node.origin));
    std::optional<graph::Op> op = graph::OpFromName(node.op);
    if (!op.has_value()) return Error(Diagnostic::Kind::kUnsupported, "no such operator in this version");
    // The lookup of names makes this quadratic in the number of attributes.
    if (node.attributes.count > kMaxAttributes)
      return Wrong(LimitMessage("", node.attributes.count, kMaxAttributes, "arguments"));
    COBRA_ASSIGN_OR_RETURN(graph::Attributes attributes, ReadAttributes(node.attributes));
    if (node.inputs.count > kMaxInputs)
      return Error(Diagnostic::Kind::kLimit, LimitMessage("", node.inputs.count, kMaxInputs, "tensors"));
    graph::ValueRefs inputs;
    inputs.reserve(static_cast<size_t>(node.inputs.count));
    COBRA_RETURN_IF_ERROR(
        EachOf(node.inputs, v1::Node::kInputsFieldNumber, [&](absl::string_view input) -> absl::Status {
          COBRA_ASSIGN_OR_RETURN(graph::ValueRef ref,
                                 ReadRef(input, [&] { return absl::StrCat("tensor ", inputs.size()); }));
          inputs.push_back(ref);
          return absl::OkStatus();
        }));
    absl::StatusOr<int32_t> index =
        builder_.Add(*op, std::move(attributes), std::move(inputs), std::move(origin), node.inplace);
    if (!index.ok()) return Refused(index.status(), "", Diagnostic::Kind::kModelError);
    COBRA_RETURN_IF_ERROR(CheckOutputs(node.outputs, *index));
    node_ = nullptr;
    return absl::OkStatus();
  }

  absl::Status CheckOutputs(const FieldRange& list, int32_t index) const {
    if (list.count == 0) return absl::OkStatus();
    constexpr size_t kShown = 3;
    const graph::TensorTypes& inferred = builder_.nodes()[index].outputs;
    graph::TensorTypes first;  // of those given, for the message
    size_t given = 0;
    bool equal = true;
    COBRA_RETURN_IF_ERROR(EachOf(list, v1::Node::kOutputsFieldNumber, [&](absl::string_view bytes) -> absl::Status {
      TypeFields fields;
      if (!fields.Merge(bytes, limits_.max_rank)) return Malformed();
      const auto what = [&] { return absl::StrCat("result ", given); };
      COBRA_ASSIGN_OR_RETURN(graph::TensorType type, CheckType(std::move(fields), what));
      equal = equal && given < inferred.size() && type == inferred[given];
      ++given;
      if (first.size() < kShown) first.push_back(std::move(type));
      return absl::OkStatus();
    }));
    if (equal && given == inferred.size()) return absl::OkStatus();
    const auto append = [](std::string* out, const graph::TensorType& type) { out->append(graph::TypeText(type)); };
    const std::string inferred_text = absl::StrJoin(inferred, ", ", append);
    const std::string given_text = absl::StrJoin(first, ", ", append);
    return Error(Diagnostic::Kind::kModelError, absl::StrCat("declares the output ", graph::Quoted(given_text),
                                                             ", its arguments give ", graph::Quoted(inferred_text)));
  }

  const std::string* FileOrNull(int64_t position) const {
    return position > 0 && position <= static_cast<int64_t>(files_.size()) ? files_[position - 1].get() : nullptr;
  }

  absl::StatusOr<graph::Origin> CheckOrigin(const OriginFields& fields) const {
    const auto files = static_cast<int64_t>(files_.size());
    graph::Origin origin;
    if (!fields.FileIsWithin(files)) {
      return Wrong(absl::StrCat("its origin is line ", fields.line, " of file ", fields.file, ", and there are ", files,
                                " files"));
    }
    if (!fields.MadeFileIsWithin(files)) {
      return Wrong(absl::StrCat("its layer was made in line ", fields.made_line, " of file ", fields.made_file,
                                ", and there are ", files, " files"));
    }
    COBRA_RETURN_IF_ERROR(CheckName(fields.module_path, "module"));
    if (fields.file > 0) origin.file = files_[fields.file - 1];
    if (fields.made_file > 0) origin.made_file = files_[fields.made_file - 1];
    origin.line = fields.line;
    origin.made_line = fields.made_line;
    origin.module_path = std::string(fields.module_path);
    return origin;
  }

  static constexpr int64_t kTensorsOfCall = 8;  // in the mean; the largest networks have two to three
  static constexpr int64_t kMaxInputs = 65536;  // of one call; torch.cat of everything has some thousand
  static constexpr int kMaxAttributes = 64;     // PyTorch's longest signature has some twenty

  const GraphLimits limits_;
  GraphFields fields_;
  graph::GraphBuilder builder_;
  int64_t dimensions_left_ = limits_.max_dimensions;  // of inputs, parameters, buffers and constants
  int64_t numbers_left_ = limits_.max_json_values;    // in lists; as in the JSON form
  std::vector<std::shared_ptr<const std::string>> files_;
  std::array<int64_t, v1::ValueRef::Kind_ARRAYSIZE> counts_{};  // of the tensors read, by their kind
  graph::UniqueNames parameter_names_, buffer_names_;
  const NodeFields* node_ = nullptr;  // the call that is being read, or null
  int64_t node_index_ = 0;
};

}  // namespace

absl::StatusOr<graph::Graph> GraphFromWire(absl::string_view bytes, const GraphLimits& limits) {
  return Reader(limits).Read(bytes);
}

absl::StatusOr<graph::Graph> GraphFromProto(const v1::Graph& proto, const GraphLimits& limits) {
  return GraphFromWire(proto.SerializeAsString(), limits);
}

}  // namespace cobra::proto
