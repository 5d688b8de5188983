// JSON -> graph. The text is untrusted: every field is checked, and an error message names the node
// it is about.
#include <cmath>
#include <limits>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "graph/builder/builder.h"
#include "graph/builder/untrusted.h"
#include "graph/form/json.h"
#include "nlohmann/json.hpp"

namespace cobra::graph {
namespace {

using Json = nlohmann::ordered_json;

struct Parsed {
  Json root;
  std::string fault;   // why it cannot be read as JSON; empty: it can be read
  bool limit = false;  // whether the fault is an exceeded limit
};

int64_t KeysOf(const Json& value) {
  int64_t keys = value.is_object() ? static_cast<int64_t>(value.size()) : 0;
  if (value.is_structured()) {
    for (const Json& inner : value) keys += inner.is_structured() ? KeysOf(inner) : 0;
  }
  return keys;
}

// Returns the first key that occurs twice in one object.
std::string RepeatedKey(absl::string_view text) {
  std::string repeated;
  std::vector<absl::flat_hash_set<std::string>> keys;
  const auto look = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second && repeated.empty()) {
      repeated = value.get<std::string>();
    }
    return true;
  };
  const Json unused = Json::parse(text.begin(), text.end(), look, /*allow_exceptions=*/false);
  (void)unused;
  return repeated;
}

// The library silently keeps one of two equal keys: then the parsed value has fewer keys than the
// text.
Parsed ParseStrictly(absl::string_view text, int64_t most_values) {
  Parsed parsed;
  JsonLimits limits;
  limits.max_values = most_values;
  const JsonOutline outline = OutlineOfJson(text, limits);
  parsed.fault = outline.fault;
  parsed.limit = outline.limit;
  if (!parsed.fault.empty()) return parsed;
  parsed.root = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!parsed.root.is_object()) {
    parsed.fault = "it is not a JSON object";
  } else if (KeysOf(parsed.root) < outline.keys) {
    parsed.fault = absl::StrCat("the key \"", Quoted(RepeatedKey(text)), "\" occurs twice in one object");
  }
  return parsed;
}

// Returns the value if it is a whole number that fits in int64_t.
std::optional<int64_t> Integer(const Json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() &&
      value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return std::nullopt;
  }
  return value.get<int64_t>();
}

// JSON has no infinities and no NaN: the writer spells them as strings.
std::optional<double> Number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "inf") return INFINITY;
  if (value == "-inf") return -INFINITY;
  if (value == "nan") return NAN;
  return std::nullopt;
}

class Reader {
 public:
  explicit Reader(const GraphLimits& limits) : limits_(limits), builder_(limits) {}

  absl::StatusOr<Graph> Read(absl::string_view text) {
    const Parsed parsed = ParseStrictly(text, limits_.max_json_values);
    if (parsed.limit) return Error(Diagnostic::Kind::kLimit, parsed.fault, "is the network meant to be this large?");
    if (!parsed.fault.empty()) return Wrong(parsed.fault);
    const Json& root = parsed.root;
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
    COBRA_RETURN_IF_ERROR(ReadAliases(root));
    const auto ops = root.find("ops");
    if (ops == root.end() || !ops->is_array()) return Wrong("there is no list \"ops\"");
    if (static_cast<int64_t>(ops->size()) > limits_.max_nodes) {
      return Error(Diagnostic::Kind::kLimit,
                   LimitMessage("", static_cast<int64_t>(ops->size()), limits_.max_nodes, "calls"),
                   "is the network meant to be this large?");
    }
    for (const Json& record : *ops) COBRA_RETURN_IF_ERROR(ReadNode(record));
    where_.clear();
    const auto output = root.find("output");
    if (output == root.end() || !output->is_array()) return Wrong("there is no list \"output\"");
    COBRA_ASSIGN_OR_RETURN(ValueRefs outputs, ReadSources(root, "output", "output_consts"));
    for (const ValueRef& ref : outputs) {
      if (ref.is_none()) return Wrong("an entry of \"output\" is null");
    }
    return std::move(builder_).Build({outputs.begin(), outputs.end()});
  }

 private:
  absl::Status Error(Diagnostic::Kind kind, absl::string_view message, std::string hint) const {
    return UserError(kind, absl::StrCat(where_.empty() ? "this JSON is not a graph" : where_, ": ", message),
                     std::move(hint));
  }
  absl::Status Wrong(absl::string_view message) const {
    return Error(Diagnostic::Kind::kUsage, message, "write the graph with `cobra-client graph --format json`");
  }
  // Reports an error of the builder or of a type check.
  absl::Status Refused(absl::string_view what, const absl::Status& status) const {
    const std::string message = absl::StrCat(what, what.empty() ? "" : ": ", status.message());
    if (!absl::IsResourceExhausted(status)) return Wrong(message);
    return Error(Diagnostic::Kind::kLimit, message, "is the network meant to be this large?");
  }

  absl::StatusOr<TensorType> ReadType(absl::string_view what, const Json& shape, const Json* dtype) const {
    if (!shape.is_array()) return Wrong(absl::StrCat(what, ": its shape is not a list"));
    TensorType type;
    for (const Json& size : shape) {
      const std::optional<int64_t> d = Integer(size);
      if (!d.has_value()) return Wrong(absl::StrCat(what, ": its shape has an entry that is not a size"));
      type.shape.push_back(*d);
    }
    if (dtype != nullptr) {
      if (!dtype->is_string()) return Wrong(absl::StrCat(what, ": its dtype is not a string"));
      const std::optional<DType> found = DTypeFromName(dtype->get<std::string>());
      if (!found) return Wrong(absl::StrCat(what, ": unknown dtype \"", Quoted(dtype->get<std::string>()), "\""));
      type.dtype = *found;
    }
    if (absl::Status status = CheckTensorType(type, limits_); !status.ok()) return Refused(what, status);
    return type;
  }

  // Returns "" if the key is absent; if present, it must be a string.
  absl::StatusOr<std::string> StringAt(const Json& object, const char* key) const {
    const auto it = object.find(key);
    if (it == object.end()) return std::string();
    if (!it->is_string()) return Wrong(absl::StrCat("\"", key, "\" is not a string"));
    return it->get<std::string>();
  }

  absl::Status CheckName(absl::string_view name, absl::string_view what) const {
    const absl::Status length = CheckNameLength(name);
    return length.ok() ? length : Refused(absl::StrCat(what, " \"", Quoted(name), "\""), length);
  }

  template <typename F>
  absl::Status ReadTensors(const Json& root, const std::string& what, F add) {
    const auto shapes = root.find(what + "_shapes");
    const auto dtypes = root.find(what + "_dtypes");
    if (dtypes != root.end() && !dtypes->is_object()) return Wrong(absl::StrCat(what, "_dtypes is not an object"));
    size_t used = 0;
    if (shapes != root.end()) {
      if (!shapes->is_object()) return Wrong(absl::StrCat(what, "_shapes is not an object"));
      for (const auto& [name, shape] : shapes->items()) {
        COBRA_RETURN_IF_ERROR(CheckName(name, what));
        const Json* dtype = nullptr;
        if (dtypes != root.end() && dtypes->contains(name)) dtype = &(*dtypes)[name];
        used += dtype != nullptr;
        COBRA_ASSIGN_OR_RETURN(TensorType type, ReadType(absl::StrCat(what, " \"", Quoted(name), "\""), shape, dtype));
        add(name, std::move(type));
      }
    }
    if (dtypes != root.end() && dtypes->size() != used) {
      return Wrong(absl::StrCat(what, "_dtypes names something that ", what, "_shapes does not have"));
    }
    return absl::OkStatus();
  }

  template <typename F>
  absl::Status ReadList(const Json& root, const char* key, F add) {
    const auto list = root.find(key);
    if (list == root.end()) return absl::OkStatus();
    if (!list->is_array()) return Wrong(absl::StrCat("\"", key, "\" is not a list"));
    for (size_t i = 0; i < list->size(); ++i) {
      const Json& tensor = (*list)[i];
      const std::string what = absl::StrCat(key, "[", i, "]");
      if (!tensor.is_object() || !tensor.contains("shape")) return Wrong(absl::StrCat(what, " has no shape"));
      const Json* dtype = tensor.contains("dtype") ? &tensor["dtype"] : nullptr;
      COBRA_ASSIGN_OR_RETURN(TensorType type, ReadType(what, tensor["shape"], dtype));
      COBRA_ASSIGN_OR_RETURN(std::string name, StringAt(tensor, "name"));
      COBRA_RETURN_IF_ERROR(CheckName(name, what));
      add(name, std::move(type));
    }
    return absl::OkStatus();
  }

  absl::Status ReadAliases(const Json& root) {
    const auto aliases = root.find("param_aliases");
    if (aliases == root.end()) return absl::OkStatus();
    if (!aliases->is_object()) return Wrong("\"param_aliases\" is not an object");
    for (const auto& [alias, name] : aliases->items()) {
      COBRA_RETURN_IF_ERROR(CheckName(alias, "parameter alias"));
      const auto it = name.is_string() ? parameters_.find(name.get<std::string>()) : parameters_.end();
      if (it == parameters_.end())
        return Wrong(absl::StrCat("parameter alias \"", Quoted(alias), "\" names no parameter"));
      if (parameters_.contains(alias)) {
        return Wrong(absl::StrCat("parameter alias \"", Quoted(alias), "\" is a parameter of its own"));
      }
      builder_.AddParameterAlias(alias, it->second);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<AttributeValue> ReadAttribute(const std::string& name, const Json& value) const {
    if (value.is_null()) return AttributeValue(NoneValue{});
    if (value.is_boolean()) return AttributeValue(value.get<bool>());
    if (const std::optional<int64_t> integer = Integer(value)) return AttributeValue(*integer);
    if (value.is_number_integer()) return Wrong(absl::StrCat("attribute '", Quoted(name), "' does not fit 64 bits"));
    if (const std::optional<double> number = Number(value)) return AttributeValue(*number);
    if (value.is_string()) return AttributeValue(value.get<std::string>());
    if (!value.is_array()) return Wrong(absl::StrCat("attribute '", Quoted(name), "' is an object"));
    bool integers = true;
    std::vector<int64_t> ints;
    std::vector<double> doubles;
    for (const Json& e : value) {
      if (e.is_null() && name == "output_size") {  // None: the size of the input is kept
        ints.push_back(-1);
        doubles.push_back(-1);
        continue;
      }
      const std::optional<double> number = Number(e);
      if (!number.has_value()) {
        return Wrong(absl::StrCat("attribute '", Quoted(name), "' is a list of something else than numbers"));
      }
      const std::optional<int64_t> integer = Integer(e);
      integers = integers && integer.has_value();
      ints.push_back(integer.value_or(0));
      doubles.push_back(*number);
    }
    return integers ? AttributeValue(std::move(ints)) : AttributeValue(std::move(doubles));
  }

  absl::StatusOr<ValueRef> ReadSource(const Json& source) const {
    if (source.is_null()) return ValueRef::None();
    if (const std::optional<int64_t> node = Integer(source)) return NodeRef(*node, 0);
    if (source.is_array() && source.size() == 2) {
      const std::optional<int64_t> node = Integer(source[0]), output = Integer(source[1]);
      if (node.has_value() && output.has_value()) return NodeRef(*node, *output);
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
    return Wrong(absl::StrCat("source \"", Quoted(text), "\" names nothing"));
  }

  absl::StatusOr<ValueRef> NodeRef(int64_t node, int64_t output) const {
    const int64_t n = static_cast<int64_t>(builder_.nodes().size());
    if (node < 0 || node >= n || output < 0 || output >= static_cast<int64_t>(builder_.nodes()[node].outputs.size())) {
      return Wrong(absl::StrCat("[", node, ", ", output, "] is not an output of an earlier node"));
    }
    return ValueRef::Node(static_cast<int32_t>(node), static_cast<int32_t>(output));
  }

  absl::StatusOr<ValueRefs> ReadSources(const Json& record, const char* key, const char* consts_key) const {
    ValueRefs refs;
    const auto list = record.find(key);
    if (list == record.end() || !list->is_array()) return Wrong(absl::StrCat("there is no list \"", key, "\""));
    const auto consts = record.find(consts_key);
    const bool has_consts = consts != record.end();
    if (has_consts && !consts->is_array()) return Wrong(absl::StrCat("\"", consts_key, "\" is not a list"));
    size_t next_const = 0;
    for (const Json& source : *list) {
      if (source != "c") {
        COBRA_ASSIGN_OR_RETURN(ValueRef ref, ReadSource(source));
        refs.push_back(ref);
        continue;
      }
      const std::optional<int64_t> index =
          has_consts && next_const < consts->size() ? Integer((*consts)[next_const++]) : std::nullopt;
      if (!index.has_value()) return Wrong(absl::StrCat("a source \"c\" has no number in \"", consts_key, "\""));
      if (*index < 0 || *index >= num_constants_) return Wrong(absl::StrCat("there is no constant ", *index));
      refs.push_back(ValueRef::Constant(static_cast<int32_t>(*index)));
    }
    if (has_consts && next_const != consts->size()) {
      return Wrong(absl::StrCat("\"", consts_key, "\" has more numbers than there are sources \"c\""));
    }
    return refs;
  }

  absl::StatusOr<Attributes> ReadAttributes(const Json& record) const {
    Attributes attributes;
    const auto list = record.find("attrs");
    if (list == record.end()) return attributes;
    if (!list->is_object()) return Wrong("\"attrs\" is not an object");
    for (const auto& [name, value] : list->items()) {
      COBRA_ASSIGN_OR_RETURN(AttributeValue read, ReadAttribute(name, value));
      attributes.Set(name, std::move(read));
    }
    if (absl::Status status = CheckAttributeTypes(attributes); !status.ok()) return Refused("", status);
    return attributes;
  }

  absl::Status ReadNode(const Json& record) {
    where_ = absl::StrCat("node ", builder_.nodes().size());
    if (!record.is_object()) return Wrong("it is not an object");
    COBRA_ASSIGN_OR_RETURN(const std::string name, StringAt(record, "op"));
    where_ = NodeText(static_cast<int64_t>(builder_.nodes().size()), name);
    const std::optional<Op> op = OpFromName(name);
    if (!op)
      return Error(Diagnostic::Kind::kUnsupported, "the operator is not known", "graph/ops.def lists those that are");
    COBRA_ASSIGN_OR_RETURN(ValueRefs inputs, ReadSources(record, "inputs", "consts"));
    if (const auto slots = record.find("slots"); slots != record.end()) {
      COBRA_ASSIGN_OR_RETURN(inputs, Spread(inputs, *slots, GetOpInfo(*op)));
    }
    COBRA_ASSIGN_OR_RETURN(Attributes attributes, ReadAttributes(record));
    const auto inplace = record.find("inplace");
    if (inplace != record.end() && !inplace->is_boolean()) return Wrong("\"inplace\" is neither true nor false");
    COBRA_ASSIGN_OR_RETURN(Origin origin, ReadOrigin(record));
    const absl::StatusOr<int32_t> node = builder_.Add(*op, std::move(attributes), std::move(inputs), std::move(origin),
                                                      inplace != record.end() && inplace->get<bool>());
    if (!node.ok()) return Refused("", node.status());
    return CheckOutputs(record, builder_.nodes()[*node]);
  }

  // The output types that the record declares must equal the inferred ones. "dtype" is absent if
  // all are float32.
  absl::Status CheckOutputs(const Json& record, const Node& node) const {
    const auto out = record.find("out");
    if (out == record.end()) return absl::OkStatus();
    Json shapes = Json::array(), dtypes = Json::array();
    bool plain = true;
    for (const TensorType& type : node.outputs) {
      shapes.push_back(std::vector<int64_t>(type.shape.begin(), type.shape.end()));
      dtypes.push_back(std::string(DTypeName(type.dtype)));
      plain = plain && type.dtype == DType::float32;
    }
    if (shapes != *out) {
      return Wrong(absl::StrCat("declares out ", Quoted(out->dump()), ", its inputs give ", Quoted(shapes.dump())));
    }
    const auto dtype_field = record.find("dtype");
    if (dtype_field == record.end() ? plain : *dtype_field == dtypes) return absl::OkStatus();
    return Wrong(absl::StrCat("declares dtype ", dtype_field == record.end() ? "float32" : Quoted(dtype_field->dump()),
                              ", its inputs give ", Quoted(dtypes.dump())));
  }

  absl::StatusOr<ValueRefs> Spread(const ValueRefs& inputs, const Json& slots, const OpInfo& info) const {
    if (!slots.is_array() || slots.size() != inputs.size()) return Wrong("\"slots\" does not fit \"inputs\"");
    ValueRefs spread;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const int64_t slot = Integer(slots[i]).value_or(-1);
      if (slot < static_cast<int64_t>(spread.size()) ||
          slot > static_cast<int64_t>(info.inputs.size() + inputs.size())) {
        return Wrong("\"slots\" does not rise");
      }
      spread.resize(slot, ValueRef::None());
      spread.push_back(inputs[i]);
    }
    return spread;
  }

  absl::StatusOr<Origin> ReadOrigin(const Json& record) {
    Origin origin;
    COBRA_ASSIGN_OR_RETURN(origin.module_path, StringAt(record, "mod"));
    COBRA_RETURN_IF_ERROR(CheckName(origin.module_path, "module"));
    COBRA_RETURN_IF_ERROR(ReadPlace(record, "where", &origin.file, &origin.line));
    COBRA_RETURN_IF_ERROR(ReadPlace(record, "made", &origin.made_file, &origin.made_line));
    return origin;
  }

  // Reads "net.py:12" from the record, if it is present.
  absl::Status ReadPlace(const Json& record, const char* key, std::shared_ptr<const std::string>* file, int* line) {
    COBRA_ASSIGN_OR_RETURN(const std::string place, StringAt(record, key));
    if (place.empty()) return absl::OkStatus();
    const size_t colon = place.rfind(':');
    if (colon == std::string::npos || !absl::SimpleAtoi(place.substr(colon + 1), line) || *line < 0) {
      return Wrong(absl::StrCat("\"", key, "\" is \"", Quoted(place), "\", not FILE:LINE"));
    }
    COBRA_RETURN_IF_ERROR(CheckName(place.substr(0, colon), "source file"));
    std::shared_ptr<const std::string>& known = files_[place.substr(0, colon)];
    if (known == nullptr) known = std::make_shared<const std::string>(place.substr(0, colon));
    *file = known;
    return absl::OkStatus();
  }

  const GraphLimits limits_;
  GraphBuilder builder_;
  std::string where_;  // "node 12 (conv2d)" while that node is read
  absl::flat_hash_map<std::string, ValueRef> parameters_, buffers_;
  absl::flat_hash_map<std::string, std::shared_ptr<const std::string>> files_;
  int64_t num_inputs_ = 0, num_constants_ = 0;
};

}  // namespace

absl::StatusOr<Graph> GraphFromJson(absl::string_view json, const GraphLimits& limits) {
  return Reader(limits).Read(json);
}

}  // namespace cobra::graph
