#include "export/onnx/writer.h"

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "export/aliasing.h"
#include "export/onnx/call_writer.h"
#include "export/onnx/handlers.h"
#include "export/onnx/onnx_file.h"
#include "export/onnx/region.h"
#include "graph/op_rules.h"
#include "graph/shape/layout.h"

namespace cobra::exporting {
namespace {

using graph::ValueRef;

struct TableRow {
  graph::Op op;
  Handler handler;  // null: refused
  const char* note;
};

constexpr TableRow kTable[] = {
#define COBRA_ONNX_WRITTEN(op, handler, note) {graph::Op::op, handler, note},
#define COBRA_ONNX_REFUSED(op, reason) {graph::Op::op, nullptr, reason},
#include "export/onnx/operators.def"
#undef COBRA_ONNX_WRITTEN
#undef COBRA_ONNX_REFUSED
};

constexpr bool IsWholeAndInOrder() {
  for (int i = 0; i < graph::kNumOps; ++i) {
    if (static_cast<int>(kTable[i].op) != i) return false;
  }
  return true;
}
static_assert(sizeof(kTable) / sizeof(kTable[0]) == graph::kNumOps, "operators.def has a row for each operator");
static_assert(IsWholeAndInOrder(), "operators.def is in the order of graph/ops.def");

class Writer {
 public:
  Writer(const graph::Graph& graph, const Weights& weights, const OnnxOptions& options)
      : graph_(graph),
        weights_(weights),
        options_(options),
        layout_(graph::ComputeLayout(graph)),
        places_(graph),
        aliases_(graph),
        nodes_of_call_(graph.nodes().size(), 0) {}

  absl::StatusOr<std::string> Write() {
    AddInputs();
    AddWeights();
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const auto index = static_cast<int32_t>(i);
      if (absl::Status status = AddCall(index); !status.ok()) return AtCall(status, index);
    }
    Names outputs;
    graph::TensorTypes types;
    for (const ValueRef ref : graph_.outputs()) {
      absl::StatusOr<std::string> name = Current(ref);
      if (!name.ok()) return AtCall(name.status(), ref.is_node() ? ref.index : -1);
      outputs.push_back(*std::move(name));
      types.push_back(graph_.TypeOf(ref));
    }
    file_.AddOutputs(outputs, types);
    std::string model = file_.Serialize();
    if (model.empty()) return AtCall(Refused("the model would be larger than 2 GiB: keep its weights in a file"), -1);
    return model;
  }

 private:
  absl::Status AtCall(const absl::Status& status, int32_t index) const {
    if (absl::IsInternal(status)) return status;
    Diagnostic d;
    d.kind = Diagnostic::Kind::kUnsupported;
    d.message = std::string(status.message());
    if (index >= 0) {
      const graph::Node& node = graph_.nodes()[index];
      d.message =
          absl::StrCat(graph::OpName(node.op), " (call ", index, ") cannot be written as ONNX: ", status.message());
      if (node.origin.shown_file() != nullptr) d.position.file = *node.origin.shown_file();
      d.position.line = node.origin.shown_line();
      d.module_path = node.origin.module_path;
    }
    return DiagnosticToStatus(d);
  }

  void AddInputs() {
    for (size_t i = 0; i < graph_.inputs().size(); ++i) {
      const graph::NamedTensor& input = graph_.inputs()[i];
      const std::string name = file_.Unique(input.name);
      file_.AddInput(name, input.type);
      aliases_.AddRoot(ValueRef::Input(static_cast<int32_t>(i)), name);
    }
  }

  void AddWeights() {
    const auto add = [&](absl::Span<const graph::NamedTensor> tensors, ValueRef (*ref_of)(int32_t)) {
      for (size_t i = 0; i < tensors.size(); ++i) {
        const ValueRef ref = ref_of(static_cast<int32_t>(i));
        const std::string name = file_.Unique(places_.NameOf(ref));
        const TensorType& type = tensors[i].type;
        if (!options_.weights_file.empty() && type.num_bytes() >= options_.smallest_external_bytes) {
          file_.AddExternal(name, type, options_.weights_file, places_.Offset(ref), type.num_bytes());
        } else {
          file_.AddInline(name, type, weights_.Bytes(ref));
        }
        aliases_.AddRoot(ref, name);
      }
    };
    add(graph_.parameters(), ValueRef::Parameter);
    add(graph_.buffers(), ValueRef::Buffer);
    add(graph_.constants(), ValueRef::Constant);
  }

  // The name of a value as the memory is now. Views of memory that was written to since are
  // computed again.
  absl::StatusOr<std::string> Current(ValueRef ref) {
    if (ref.is_none()) return std::string();
    for (const ValueRef view : aliases_.OutOfDate(ref)) {
      COBRA_ASSIGN_OR_RETURN(const Names names, NodesOf(view.index));
      for (size_t i = 0; i < names.size(); ++i)
        aliases_.Rename(ValueRef::Node(view.index, static_cast<int32_t>(i)), names[i]);
    }
    return aliases_.NameOf(ref);
  }

  // The nodes of a call; the names of its outputs. REQUIRES: its inputs are up to date, or no views
  // of one memory.
  absl::StatusOr<Names> NodesOf(int32_t index) {
    const graph::Node& node = graph_.nodes()[index];
    Names inputs;
    for (const ValueRef ref : node.inputs) {
      if (ref.is_none()) {
        inputs.emplace_back();
        continue;
      }
      COBRA_ASSIGN_OR_RETURN(std::string name, Current(ref));
      inputs.push_back(std::move(name));
    }
    const TableRow& row = kTable[static_cast<size_t>(node.op)];
    if (row.handler == nullptr) return Refused(row.note);
    CallWriter writer(&file_, graph_, index, std::move(inputs), &nodes_of_call_[static_cast<size_t>(index)]);
    COBRA_ASSIGN_OR_RETURN(Names names, row.handler(writer));
    if (names.size() != node.outputs.size())
      return absl::InternalError(absl::StrCat(graph::OpName(node.op), ": ", names.size(), " outputs were written"));
    for (size_t i = 0; i < names.size(); ++i) file_.DeclareType(names[i], node.outputs[i]);
    return names;
  }

  absl::Status CheckTypes(const graph::Node& node) const {
    if (node.attributes.Find("quantized") != nullptr) return Refused("integers that stand for reals");
    for (const ValueRef ref : node.inputs) {
      if (!ref.is_none() && graph::IsComplex(graph_.TypeOf(ref).dtype)) return Refused("complex numbers");
    }
    for (const TensorType& type : node.outputs) {
      if (graph::IsComplex(type.dtype)) return Refused("complex numbers");
    }
    return absl::OkStatus();
  }

  absl::Status AddCall(int32_t index) {
    const graph::Node& node = graph_.nodes()[index];
    COBRA_RETURN_IF_ERROR(CheckTypes(node));
    const ValueRef first = ValueRef::Node(index);
    if (node.op == graph::Op::as_base) {
      aliases_.AddSame(first, node.inputs[1]);
      return absl::OkStatus();
    }
    if (graph::IsAlias(graph_, node)) {
      aliases_.AddSame(first, node.inputs[0]);
      return absl::OkStatus();
    }
    COBRA_ASSIGN_OR_RETURN(const Names names, NodesOf(index));
    if (graph::IsView(node) && !layout_.copies[static_cast<size_t>(index)]) {
      aliases_.AddViews(index, names);
      return absl::OkStatus();
    }
    if (node.inplace || node.op == graph::Op::setitem) return AddWrite(index, names);
    for (size_t i = 0; i < names.size(); ++i)
      aliases_.AddRoot(ValueRef::Node(index, static_cast<int32_t>(i)), names[i]);
    return absl::OkStatus();
  }

  // The first output is written to the memory of the first input.
  absl::Status AddWrite(int32_t index, const Names& names) {
    const graph::Node& node = graph_.nodes()[index];
    const ValueRef target = node.inputs[0];
    if (node.outputs[0] != graph_.TypeOf(target))
      return Refused("in place, with a result of ", graph::TypeText(node.outputs[0]), " in ",
                     graph::TypeText(graph_.TypeOf(target)));
    std::string root = names[0];
    if (!aliases_.IsRoot(target)) {
      const ValueRef whole = aliases_.RootOf(target);
      COBRA_ASSIGN_OR_RETURN(const Ints positions, aliases_.PositionsInRoot(target));
      CallWriter writer(&file_, graph_, index, {}, &nodes_of_call_[static_cast<size_t>(index)]);
      COBRA_ASSIGN_OR_RETURN(root,
                             WithReplaced(writer, aliases_.NameOf(whole), graph_.TypeOf(whole), positions, names[0]));
    }
    aliases_.Write(target, root, names[0]);
    aliases_.AddSame(ValueRef::Node(index), target);
    for (size_t i = 1; i < names.size(); ++i)
      aliases_.AddRoot(ValueRef::Node(index, static_cast<int32_t>(i)), names[i]);
    return absl::OkStatus();
  }

  const graph::Graph& graph_;
  const Weights& weights_;
  const OnnxOptions& options_;
  const graph::Layout layout_;
  const WeightsFile places_;
  OnnxFile file_;
  Aliases aliases_;
  std::vector<int> nodes_of_call_;
};

}  // namespace

absl::StatusOr<std::string> WriteOnnx(const graph::Graph& graph, const Weights& weights, const OnnxOptions& options) {
  return Writer(graph, weights, options).Write();
}

std::string WeightsPath(absl::string_view onnx_path) {
  return absl::StrCat(absl::StripSuffix(onnx_path, ".onnx"), ".safetensors");
}

absl::Status WriteOnnxFiles(const graph::Graph& graph, const Weights& weights, const std::string& path) {
  const std::string weights_path = WeightsPath(path);
  OnnxOptions options;
  options.weights_file = weights_path.substr(weights_path.rfind('/') + 1);
  COBRA_ASSIGN_OR_RETURN(const std::string model, WriteOnnx(graph, weights, options));
  COBRA_RETURN_IF_ERROR(WeightsFile(graph).Write(weights, weights_path));
  return WriteFileAtomic(path, model);
}

int32_t CallOfNode(absl::string_view node_name) {
  int32_t call = -1;
  const size_t end = node_name.find('/');
  if (!absl::ConsumePrefix(&node_name, "call") || end == absl::string_view::npos) return -1;
  return absl::SimpleAtoi(node_name.substr(0, end - 4), &call) ? call : -1;
}

std::vector<WrittenOperator> WrittenOperators() {
  std::vector<WrittenOperator> operators;
  for (const TableRow& row : kTable) operators.push_back({row.op, row.handler != nullptr, row.note});
  return operators;
}

}  // namespace cobra::exporting
