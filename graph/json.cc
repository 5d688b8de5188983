#include "graph/json.h"

#include <cmath>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "graph/builder.h"
#include "graph/cost.h"
#include "nlohmann/json.hpp"

namespace cobra {
namespace {

using Json = nlohmann::ordered_json;

std::string Text(absl::string_view view) { return std::string(view); }

// ---- writing

struct ValueToJson {
  Json operator()(NoneValue) const { return nullptr; }
  Json operator()(double value) const {
    if (std::isfinite(value)) return value;
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";  // JSON has no infinities
  }
  Json operator()(const std::vector<double>& values) const {
    Json list = Json::array();
    for (double value : values) list.push_back((*this)(value));
    return list;
  }
  template <typename T>
  Json operator()(const T& value) const {
    return value;
  }
};

Json ShapeToJson(const Shape& shape) {
  Json list = Json::array();
  for (int64_t d : shape) list.push_back(d);
  return list;
}

Json TensorToJson(const NamedTensor& tensor) {
  return {
      {"name", tensor.name}, {"shape", ShapeToJson(tensor.type.shape)}, {"dtype", Text(DTypeName(tensor.type.dtype))}};
}

class Writer {
 public:
  Writer(const Graph& graph, const GraphJsonOptions& options) : graph_(graph), options_(options) {}

  std::string Write() {
    Json root = {{"inputs", Json::array()}, {"ops", Json::array()}};
    for (const NamedTensor& input : graph_.inputs()) root["inputs"].push_back(TensorToJson(input));
    for (const Node& node : graph_.nodes()) root["ops"].push_back(NodeToJson(node));
    root["params"] = graph_.num_parameters();
    WriteTensors(graph_.parameters(), "param", /*always=*/true, &root);
    for (const auto& [alias, index] : graph_.parameter_aliases()) {
      root["param_aliases"][alias] = graph_.parameters()[index].name;
    }
    WriteTensors(graph_.buffers(), "buffer", /*always=*/false, &root);
    for (const NamedTensor& constant : graph_.constants()) root["constants"].push_back(TensorToJson(constant));
    Json consts = Json::array();
    root["output"] = Json::array();
    for (const ValueRef& ref : graph_.outputs()) {
      // Where there are several, always as pairs: two bare numbers would read as one pair.
      root["output"].push_back(ref.is_node() && graph_.outputs().size() > 1 ? Json::array({ref.index, ref.output})
                                                                            : SourceToJson(ref, &consts));
    }
    if (!consts.empty()) root["output_consts"] = consts;
    root["macs"] = CostOf(graph_).macs;
    if (graph_.folded_macs() > 0) root["folded_macs"] = graph_.folded_macs();
    root["peak_memory_bytes"] = PeakMemoryBytes(graph_);
    // Names come from the user's program and need not be UTF-8.
    return root.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

 private:
  static void WriteTensors(absl::Span<const NamedTensor> tensors, const std::string& what, bool always, Json* root) {
    if (!always && tensors.empty()) return;
    Json shapes = Json::object(), dtypes = Json::object();
    for (const NamedTensor& tensor : tensors) {
      shapes[tensor.name] = ShapeToJson(tensor.type.shape);
      if (tensor.type.dtype != DType::float32) dtypes[tensor.name] = Text(DTypeName(tensor.type.dtype));
    }
    (*root)[what + "_shapes"] = std::move(shapes);
    if (!dtypes.empty()) (*root)[what + "_dtypes"] = std::move(dtypes);
  }

  Json SourceToJson(ValueRef ref, Json* consts) const {
    switch (ref.kind) {
      case ValueRef::Kind::kInput:
        return absl::StrCat("in:", ref.index);
      case ValueRef::Kind::kParameter:
        return absl::StrCat("p:", graph_.parameters()[ref.index].name);
      case ValueRef::Kind::kBuffer:
        return absl::StrCat("b:", graph_.buffers()[ref.index].name);
      case ValueRef::Kind::kConstant:
        consts->push_back(ref.index);
        return "c";
      case ValueRef::Kind::kNone:
        return nullptr;
      case ValueRef::Kind::kNode:
        break;
    }
    if (graph_.nodes()[ref.index].outputs.size() > 1) return Json::array({ref.index, ref.output});
    return ref.index;
  }

  // No input and no parameter is involved.
  bool IsConst(const Node& node) const {
    if (node.inputs.empty()) return false;
    for (const ValueRef& ref : node.inputs) {
      if (ref.is_node() ? !const_[ref.index]
                        : ref.kind == ValueRef::Kind::kInput || ref.kind == ValueRef::Kind::kParameter) {
        return false;
      }
    }
    return true;
  }

  Json NodeToJson(const Node& node) {
    Json record = {{"op", Text(OpName(node.op))}};
    Json inputs = Json::array(), slots = Json::array(), consts = Json::array();
    bool gap = false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i].is_none()) continue;
      gap = gap || i != inputs.size();
      inputs.push_back(SourceToJson(node.inputs[i], &consts));
      slots.push_back(i);
    }
    record["inputs"] = std::move(inputs);
    if (gap) record["slots"] = std::move(slots);
    if (!consts.empty()) record["consts"] = std::move(consts);
    Json attributes = Json::object();
    for (const auto& [name, value] : node.attributes) attributes[name] = std::visit(ValueToJson(), value);
    if (const auto size = attributes.find("output_size"); size != attributes.end() && size->is_array()) {
      for (Json& element : *size) {
        if (element == -1) element = nullptr;  // PyTorch's None: as the input
      }
    }
    record["attrs"] = std::move(attributes);
    Json out = Json::array(), dtypes = Json::array();
    bool plain = true;
    for (const TensorType& type : node.outputs) {
      out.push_back(ShapeToJson(type.shape));
      dtypes.push_back(Text(DTypeName(type.dtype)));
      plain = plain && type.dtype == DType::float32;
    }
    record["out"] = std::move(out);
    if (!plain) record["dtype"] = std::move(dtypes);
    const_.push_back(IsConst(node));
    const bool gathers = node.op == Op::meshgrid || (node.op == Op::getitem && node.inputs.size() > 1);
    if (const_.back()) {
      record["kind"] = "const";
    } else if (IsAlias(graph_, node)) {
      record["kind"] = "alias";
    } else if (GetOpInfo(node.op).cost_class == CostClass::kView && !gathers) {
      record["kind"] = "view";
    }
    if (node.inplace) record["inplace"] = true;
    if (options_.origins) {
      record["mod"] = node.origin.module_path;
      if (node.origin.file != nullptr) record["where"] = absl::StrCat(*node.origin.file, ":", node.origin.line);
    }
    return record;
  }

  const Graph& graph_;
  const GraphJsonOptions& options_;
  std::vector<bool> const_;
};

// ---- reading

absl::Status Wrong(std::string message) {
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::kUsage;
  diagnostic.message = absl::StrCat("this JSON is no graph: ", message);
  diagnostic.hint = "write the graph with `cobra-client graph --format json`";
  return DiagnosticToStatus(diagnostic);
}

absl::StatusOr<TensorType> ReadType(const Json& shape, const std::string& dtype) {
  if (!shape.is_array()) return Wrong("a shape is no list");
  TensorType type;
  for (const Json& d : shape) {
    if (!d.is_number_integer() || d.get<int64_t>() < 0) return Wrong("a shape has an entry that is no size");
    type.shape.push_back(d.get<int64_t>());
  }
  const std::optional<DType> found = DTypeFromName(dtype);
  if (!found) return Wrong(absl::StrCat("unknown dtype \"", dtype, "\""));
  type.dtype = *found;
  return type;
}

std::string StringAt(const Json& object, const char* key, const std::string& fallback) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : fallback;
}

std::optional<double> SpecialDouble(const std::string& text) {
  if (text == "inf") return INFINITY;
  if (text == "-inf") return -INFINITY;
  if (text == "nan") return NAN;
  return std::nullopt;
}

absl::StatusOr<AttributeValue> ReadAttribute(const Json& value) {
  if (value.is_null()) return AttributeValue(NoneValue{});
  if (value.is_boolean()) return AttributeValue(value.get<bool>());
  if (value.is_number_integer()) return AttributeValue(value.get<int64_t>());
  if (value.is_number()) return AttributeValue(value.get<double>());
  if (value.is_string()) {
    const std::string text = value.get<std::string>();
    if (const std::optional<double> special = SpecialDouble(text)) return AttributeValue(*special);
    return AttributeValue(text);
  }
  if (!value.is_array()) return Wrong("an attribute is no value of Python's");
  bool integers = true;
  std::vector<int64_t> ints;
  std::vector<double> doubles;
  for (const Json& e : value) {
    if (e.is_null()) {  // a size that stays as the input has it
      ints.push_back(-1);
      doubles.push_back(-1);
      continue;
    }
    if (!e.is_number()) return Wrong("an attribute is a list of something else than numbers");
    integers = integers && e.is_number_integer();
    if (e.is_number_integer()) ints.push_back(e.get<int64_t>());
    doubles.push_back(e.get<double>());
  }
  return integers ? AttributeValue(ints) : AttributeValue(doubles);
}

class Reader {
 public:
  absl::StatusOr<Graph> Read(absl::string_view text) {
    const Json root = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
    if (!root.is_object()) return Wrong("it is no JSON object");
    COBRA_RETURN_IF_ERROR(ReadList(root, "inputs", [&](const std::string& name, TensorType type) {
      builder_.AddInput(name, std::move(type));
      ++num_inputs_;
    }));
    COBRA_RETURN_IF_ERROR(ReadTensors(root, "param", [&](const std::string& name, TensorType type) {
      parameters_[name] = builder_.AddParameter(name, std::move(type));
    }));
    COBRA_RETURN_IF_ERROR(ReadTensors(root, "buffer", [&](const std::string& name, TensorType type) {
      buffers_[name] = builder_.AddBuffer(name, std::move(type));
    }));
    COBRA_RETURN_IF_ERROR(ReadList(root, "constants", [&](const std::string& name, TensorType type) {
      builder_.AddConstant(name, std::move(type));
      ++num_constants_;
    }));
    if (const auto aliases = root.find("param_aliases"); aliases != root.end() && aliases->is_object()) {
      for (const auto& [alias, name] : aliases->items()) {
        const auto it = parameters_.find(name.is_string() ? name.get<std::string>() : "");
        if (it == parameters_.end()) return Wrong(absl::StrCat("parameter alias ", alias, " names no parameter"));
        builder_.AddParameterAlias(alias, it->second);
      }
    }
    if (const auto folded = root.find("folded_macs"); folded != root.end() && folded->is_number_unsigned())
      builder_.AddFoldedMacs(folded->get<int64_t>());
    const auto ops = root.find("ops");
    if (ops == root.end() || !ops->is_array()) return Wrong("there is no list \"ops\"");
    for (const Json& record : *ops) COBRA_RETURN_IF_ERROR(ReadNode(record));
    const auto output = root.find("output");
    if (output == root.end() || !output->is_array()) return Wrong("there is no list \"output\"");
    COBRA_ASSIGN_OR_RETURN(std::vector<ValueRef> outputs, ReadSources(root, "output", "output_consts"));
    return std::move(builder_).Build(std::move(outputs));
  }

 private:
  template <typename F>
  absl::Status ReadTensors(const Json& root, const std::string& what, F add) {
    const auto shapes = root.find(what + "_shapes");
    if (shapes == root.end()) return absl::OkStatus();
    if (!shapes->is_object()) return Wrong(absl::StrCat(what, "_shapes is no object"));
    const auto dtypes = root.find(what + "_dtypes");
    for (const auto& [name, shape] : shapes->items()) {
      const bool listed = dtypes != root.end() && dtypes->is_object();
      COBRA_ASSIGN_OR_RETURN(TensorType type,
                             ReadType(shape, listed ? StringAt(*dtypes, name.c_str(), "float32") : "float32"));
      add(name, std::move(type));
    }
    return absl::OkStatus();
  }

  template <typename F>
  absl::Status ReadList(const Json& root, const char* key, F add) {
    const auto list = root.find(key);
    if (list == root.end()) return absl::OkStatus();
    if (!list->is_array()) return Wrong(absl::StrCat(key, " is no list"));
    for (const Json& tensor : *list) {
      if (!tensor.is_object() || !tensor.contains("shape"))
        return Wrong(absl::StrCat("an entry of ", key, " has no shape"));
      COBRA_ASSIGN_OR_RETURN(TensorType type, ReadType(tensor["shape"], StringAt(tensor, "dtype", "float32")));
      add(StringAt(tensor, "name", ""), std::move(type));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<ValueRef> ReadSource(const Json& source) const {
    if (source.is_null()) return ValueRef::None();
    if (source.is_number_integer()) return NodeRef(source.get<int64_t>(), 0);
    if (source.is_array() && source.size() == 2 && source[0].is_number_integer() && source[1].is_number_integer()) {
      return NodeRef(source[0].get<int64_t>(), source[1].get<int64_t>());
    }
    if (!source.is_string()) return Wrong("a source is neither number, pair nor name");
    const std::string text = source.get<std::string>();
    const std::string name = text.size() > 2 ? text.substr(text.find(':') + 1) : "";
    int64_t index;
    if (text.rfind("in:", 0) == 0 && absl::SimpleAtoi(name, &index) && index >= 0 && index < num_inputs_) {
      return ValueRef::Input(static_cast<int32_t>(index));
    }
    if (text.rfind("p:", 0) == 0) {
      if (const auto it = parameters_.find(name); it != parameters_.end()) return it->second;
    }
    if (text.rfind("b:", 0) == 0) {
      if (const auto it = buffers_.find(name); it != buffers_.end()) return it->second;
    }
    return Wrong(absl::StrCat("source \"", text, "\" names nothing"));
  }

  absl::StatusOr<ValueRef> NodeRef(int64_t node, int64_t output) const {
    const int64_t n = static_cast<int64_t>(builder_.nodes().size());
    if (node < 0 || node >= n || output < 0 || output >= static_cast<int64_t>(builder_.nodes()[node].outputs.size())) {
      return Wrong(absl::StrCat("[", node, ", ", output, "] is no output of an earlier record"));
    }
    return ValueRef::Node(static_cast<int32_t>(node), static_cast<int32_t>(output));
  }

  absl::StatusOr<std::vector<ValueRef>> ReadSources(const Json& record, const char* key, const char* consts_key) const {
    std::vector<ValueRef> refs;
    const auto list = record.find(key);
    if (list == record.end() || !list->is_array()) return Wrong(absl::StrCat("a record has no list \"", key, "\""));
    const auto consts = record.find(consts_key);
    size_t next_const = 0;
    for (const Json& source : *list) {
      if (source.is_string() && source.get<std::string>() == "c") {
        if (consts == record.end() || !consts->is_array() || next_const >= consts->size() ||
            !(*consts)[next_const].is_number_integer()) {
          return Wrong("a source \"c\" has no number in \"consts\"");
        }
        const int64_t index = (*consts)[next_const++].get<int64_t>();
        if (index < 0 || index >= num_constants_) return Wrong(absl::StrCat("there is no constant ", index));
        refs.push_back(ValueRef::Constant(static_cast<int32_t>(index)));
        continue;
      }
      COBRA_ASSIGN_OR_RETURN(ValueRef ref, ReadSource(source));
      refs.push_back(ref);
    }
    return refs;
  }

  absl::Status ReadNode(const Json& record) {
    if (!record.is_object()) return Wrong("a record is no object");
    const std::string name = StringAt(record, "op", "");
    const std::optional<Op> op = OpFromName(name);
    if (!op) {
      Diagnostic diagnostic;
      diagnostic.kind = Diagnostic::Kind::kUnsupported;
      diagnostic.message = absl::StrCat("operator \"", name, "\" is not known");
      return DiagnosticToStatus(diagnostic);
    }
    COBRA_ASSIGN_OR_RETURN(std::vector<ValueRef> inputs, ReadSources(record, "inputs", "consts"));
    if (const auto slots = record.find("slots"); slots != record.end()) {
      COBRA_ASSIGN_OR_RETURN(inputs, Spread(inputs, *slots, GetOpInfo(*op)));
    }
    Attributes attributes;
    if (const auto attrs = record.find("attrs"); attrs != record.end() && attrs->is_object()) {
      for (const auto& [key, value] : attrs->items()) {
        COBRA_ASSIGN_OR_RETURN(AttributeValue read, ReadAttribute(value));
        attributes.Set(key, std::move(read));
      }
    }
    const auto inplace = record.find("inplace");
    const absl::StatusOr<int32_t> node =
        builder_.Add(*op, std::move(attributes), std::move(inputs), ReadOrigin(record),
                     inplace != record.end() && inplace->is_boolean() && inplace->get<bool>());
    if (!node.ok()) {
      return Wrong(absl::StrCat("record ", builder_.nodes().size(), " (", name, "): ", node.status().message()));
    }
    return CheckOutputs(record, builder_.nodes()[*node]);
  }

  // What the record says it makes must be what our rule says.
  absl::Status CheckOutputs(const Json& record, const Node& node) const {
    const auto out = record.find("out");
    if (out == record.end()) return absl::OkStatus();
    Json have = Json::array();
    for (const TensorType& type : node.outputs) have.push_back(ShapeToJson(type.shape));
    if (have == *out) return absl::OkStatus();
    return Wrong(absl::StrCat("record ", builder_.nodes().size() - 1, " (", OpName(node.op), ") says out ", out->dump(),
                              ", its inputs give ", have.dump()));
  }

  static absl::StatusOr<std::vector<ValueRef>> Spread(const std::vector<ValueRef>& inputs, const Json& slots,
                                                      const OpInfo& info) {
    if (!slots.is_array() || slots.size() != inputs.size()) return Wrong("\"slots\" does not fit \"inputs\"");
    std::vector<ValueRef> spread;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const int64_t slot = slots[i].is_number_integer() ? slots[i].get<int64_t>() : -1;
      if (slot < static_cast<int64_t>(spread.size()) ||
          slot > static_cast<int64_t>(info.inputs.size() + inputs.size())) {
        return Wrong("\"slots\" does not rise");
      }
      spread.resize(slot, ValueRef::None());
      spread.push_back(inputs[i]);
    }
    return spread;
  }

  Origin ReadOrigin(const Json& record) {
    Origin origin;
    origin.module_path = StringAt(record, "mod", "");
    const std::string where = StringAt(record, "where", "");
    const size_t colon = where.rfind(':');
    if (colon == std::string::npos || !absl::SimpleAtoi(where.substr(colon + 1), &origin.line)) return origin;
    std::shared_ptr<const std::string>& file = files_[where.substr(0, colon)];
    if (file == nullptr) file = std::make_shared<const std::string>(where.substr(0, colon));
    origin.file = file;
    return origin;
  }

  GraphBuilder builder_;
  absl::flat_hash_map<std::string, ValueRef> parameters_, buffers_;
  absl::flat_hash_map<std::string, std::shared_ptr<const std::string>> files_;
  int64_t num_inputs_ = 0, num_constants_ = 0;
};

}  // namespace

std::string GraphToJson(const Graph& graph, const GraphJsonOptions& options) { return Writer(graph, options).Write(); }

absl::StatusOr<Graph> GraphFromJson(absl::string_view json) { return Reader().Read(json); }

}  // namespace cobra
