#include "graph/form/json.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/constants/constant_calls.h"
#include "graph/cost/cost.h"
#include "graph/op_rules.h"
#include "nlohmann/json.hpp"

namespace cobra::graph {
namespace {

using Json = nlohmann::ordered_json;

std::string Text(absl::string_view view) { return std::string(view); }

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
  Writer(const Graph& graph, const GraphJsonOptions& options)
      : graph_(graph), options_(options), const_(ConstantCalls(graph, /*of_parameters=*/false)) {}

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
      // Several outputs are always written as pairs: two bare numbers would read as one pair.
      root["output"].push_back(ref.is_node() && graph_.outputs().size() > 1 ? Json::array({ref.index, ref.output})
                                                                            : SourceToJson(ref, &consts));
    }
    if (!consts.empty()) root["output_consts"] = consts;
    root["macs"] = CostOf(graph_).macs;
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
      case ValueRef::Kind::kInput: return absl::StrCat("in:", ref.index);
      case ValueRef::Kind::kParameter: return absl::StrCat("p:", graph_.parameters()[ref.index].name);
      case ValueRef::Kind::kBuffer: return absl::StrCat("b:", graph_.buffers()[ref.index].name);
      case ValueRef::Kind::kConstant: consts->push_back(ref.index); return "c";
      case ValueRef::Kind::kNone: return nullptr;
      case ValueRef::Kind::kNode: break;
    }
    if (graph_.nodes()[ref.index].outputs.size() > 1) return Json::array({ref.index, ref.output});
    return ref.index;
  }

  // x[0] = tensor, x[a:b] = tensor, x[indices] = tensor: PyTorch 1.13 does not show these calls to
  // a tracer (it does show x[0, 1:] = tensor and x[0] = 1.0). A comparison with the graph of such a
  // tracer must take x as unchanged.
  static bool IsUnwatched(const Node& node) {
    if (node.op != Op::setitem) return false;
    const std::string index = node.attributes.String("index");
    const std::vector<absl::string_view> parts = absl::StrSplit(index, ", ");
    const bool tensors = std::all_of(parts.begin(), parts.end(), [](absl::string_view part) {
      return absl::StartsWith(part, "T") && part != "True";
    });
    const size_t indices = static_cast<size_t>(std::count_if(parts.begin(), parts.end(), [](absl::string_view part) {
      return absl::StartsWith(part, "T") && part != "True";
    }));
    const bool writes_tensor = node.inputs.size() == indices + 2;
    return writes_tensor && (tensors || (parts.size() == 1 && !absl::StartsWith(parts[0], "[")));
  }

  // Whether the call touches no data but still makes a new tensor.
  static bool IsListedAsNew(const Node& node) {
    const Storage storage = RulesOf(node.op).storage;
    return storage == Storage::kViewAsNew || storage == Storage::kUnlessComplex ||
           (storage == Storage::kViewOrGather && node.inputs.size() > 1);
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
        if (element == -1) element = nullptr;  // PyTorch's None: the size of the input
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
    if (node.inputs.empty()) {
      record["kind"] = "create";
    } else if (const_[static_cast<size_t>(&node - graph_.nodes().data())]) {
      record["kind"] = "const";
    } else if (IsAlias(graph_, node) || IsUnwatched(node)) {
      record["kind"] = "alias";
    } else if (GetOpInfo(node.op).cost_class == CostClass::kView && !IsListedAsNew(node)) {
      record["kind"] = "view";
    }
    if (node.inplace) record["inplace"] = true;
    if (options_.origins) {
      record["mod"] = node.origin.module_path;
      if (node.origin.file != nullptr) record["where"] = absl::StrCat(*node.origin.file, ":", node.origin.line);
      if (node.origin.made_file != nullptr)
        record["made"] = absl::StrCat(*node.origin.made_file, ":", node.origin.made_line);
    }
    return record;
  }

  const Graph& graph_;
  const GraphJsonOptions& options_;
  const std::vector<bool> const_;
};

}  // namespace

std::string GraphToJson(const Graph& graph, const GraphJsonOptions& options) { return Writer(graph, options).Write(); }

}  // namespace cobra::graph
