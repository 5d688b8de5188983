#include "export/ncnn/writer.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "export/aliasing.h"
#include "export/ncnn/call_writer.h"
#include "export/ncnn/handlers.h"
#include "graph/constants/const_eval.h"
#include "graph/shape/layout.h"

namespace cobra::exporting {
namespace ncnn {
namespace {

using graph::ValueRef;

struct TableRow {
  graph::Op op;
  Handler handler;
  const char* note;
};

constexpr TableRow kTable[] = {
#define COBRA_NCNN_WRITTEN(op, handler, note) {graph::Op::op, handler, note},
#include "export/ncnn/operators.def"
#undef COBRA_NCNN_WRITTEN
};

// Sums over weights that are computed while the network is written: index tables, masks, transposed
// matrices.
constexpr int64_t kMostFolded = int64_t{1} << 24;
constexpr int64_t kMostMultiplied = int64_t{1} << 28;

const TableRow* RowOf(graph::Op op) {
  for (const TableRow& row : kTable) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

bool ReadsIntegers(graph::Op op) { return op == graph::Op::embedding; }

class Writer {
 public:
  Writer(const graph::Graph& graph, const Weights& weights)
      : graph_(graph), weights_(weights), layout_(graph::ComputeLayout(graph)), aliases_(graph) {}

  absl::StatusOr<NcnnFiles> Write() {
    FindUsed();
    COBRA_RETURN_IF_ERROR(AddInputs());
    AddWeights();
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const auto index = static_cast<int32_t>(i);
      if (absl::Status status = AddCall(index); !status.ok()) return AtCall(status, index);
    }
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const ValueRef ref = graph_.outputs()[i];
      if (absl::Status status = AddOutput(i, ref); !status.ok())
        return ref.is_node() ? AtCall(status, ref.index) : AtOutput(status, i);
    }
    network_.file.Finish();
    return NcnnFiles{network_.file.Text(), network_.file.Bytes()};
  }

 private:
  absl::Status AtCall(const absl::Status& status, int32_t index) const {
    if (absl::IsInternal(status)) return status;
    const graph::Node& node = graph_.nodes()[index];
    Diagnostic d;
    d.kind = Diagnostic::Kind::kUnsupported;
    d.message =
        absl::StrCat(graph::OpName(node.op), " (call ", index, ") cannot be written for ncnn: ", status.message());
    if (node.origin.shown_file() != nullptr) d.position.file = *node.origin.shown_file();
    d.position.line = node.origin.shown_line();
    d.module_path = node.origin.module_path;
    return DiagnosticToStatus(d);
  }

  static absl::Status Unsupported(std::string message) {
    return UserError(Diagnostic::Kind::kUnsupported, std::move(message));
  }

  static absl::Status AtOutput(const absl::Status& status, size_t i) {
    return Unsupported(absl::StrCat("output ", i, " cannot be written for ncnn: ", status.message()));
  }

  static std::pair<int32_t, int32_t> Key(ValueRef ref) { return {ref.index, ref.output}; }

  void FindUsed() {
    for (const graph::Node& node : graph_.nodes()) {
      for (const ValueRef ref : node.inputs) {
        if (ref.is_node()) used_.insert(Key(ref));
      }
    }
    for (const ValueRef ref : graph_.outputs()) {
      if (ref.is_node()) used_.insert(Key(ref));
    }
  }

  absl::Status AddInputs() {
    for (size_t i = 0; i < graph_.inputs().size(); ++i) {
      const graph::NamedTensor& input = graph_.inputs()[i];
      const std::string what =
          absl::StrCat("input ", input.name.empty() ? absl::StrCat(i) : input.name, " (", TypeText(input.type), ")");
      const DType dtype = input.type.dtype;
      if (dtype != DType::float32 && dtype != DType::int64 && dtype != DType::int32)
        return Unsupported(absl::StrCat(what, " cannot be written for ncnn: it computes in float32"));
      if (input.type.rank() > 2 && input.type.shape[0] > 1 && BlobOf(input.type.shape).empty())
        return Unsupported(absl::StrCat(what,
                                        " cannot be written for ncnn: its blobs have no batch; read the network "
                                        "with a batch of 1"));
      const Ints dims = BlobOf(input.type.shape);
      if (dims.empty() || input.type.num_elements() == 0)
        return Unsupported(absl::StrCat(what, " cannot be written for ncnn: its blobs have one to four dimensions"));
      aliases_.AddRoot(ValueRef::Input(static_cast<int32_t>(i)), network_.file.AddInput(i, dims));
    }
    return absl::OkStatus();
  }

  std::string AddConstant(const TensorType& type, std::string bytes) {
    std::string name = absl::StrCat("=", network_.constants.size());
    network_.constants[name] = {type, std::move(bytes)};
    return name;
  }

  void AddWeights() {
    const auto add = [&](absl::Span<const graph::NamedTensor> tensors, ValueRef (*ref_of)(int32_t)) {
      for (size_t i = 0; i < tensors.size(); ++i) {
        const ValueRef ref = ref_of(static_cast<int32_t>(i));
        aliases_.AddRoot(ref, AddConstant(tensors[i].type, std::string(weights_.Bytes(ref))));
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
      COBRA_ASSIGN_OR_RETURN(const Names names, LayersOf(view.index));
      for (size_t i = 0; i < names.size(); ++i)
        aliases_.Rename(ValueRef::Node(view.index, static_cast<int32_t>(i)), names[i]);
    }
    return aliases_.NameOf(ref);
  }

  static bool IsConstant(const std::string& name) { return !name.empty() && name[0] == '='; }

  // The outputs of a call on constants only; none if they are not known. REQUIRES: as LayersOf.
  Names Folded(const graph::Node& node, const Names& inputs) {
    if (node.op == graph::Op::setitem || inputs.empty()) return {};
    std::vector<std::vector<double>> values(inputs.size());
    std::vector<graph::ConstInput> operands(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].empty()) continue;
      if (!IsConstant(inputs[i])) return {};
      const Constant& constant = network_.constants.at(inputs[i]);
      if (graph::IsComplex(constant.type.dtype) || constant.type.num_elements() > kMostFolded) return {};
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].empty()) continue;
      const Constant& constant = network_.constants.at(inputs[i]);
      values[i] = ValuesOf(constant.type.dtype, constant.bytes);
      operands[i] = {&constant.type, &values[i]};
    }
    if (node.op == graph::Op::linear) return FoldedLinear(node, operands);
    const auto results = graph::EvalConst(node.op, node.attributes, operands, node.outputs, kMostFolded);
    Names names;
    for (size_t i = 0; i < results.size() && results[i] != nullptr && !graph::IsComplex(node.outputs[i].dtype); ++i)
      names.push_back(AddConstant(node.outputs[i], BytesOf(node.outputs[i].dtype, *results[i])));
    return names.size() == node.outputs.size() ? names : Names{};
  }

  // EvalConst knows no bias. Networks have such a call on a table of coordinates.
  Names FoldedLinear(const graph::Node& node, const std::vector<graph::ConstInput>& operands) {
    const auto in = static_cast<size_t>(operands[1].type->shape.back());
    const std::vector<double>&x = *operands[0].values, &weight = *operands[1].values;
    const size_t rows = x.size() / in, out = weight.size() / in;
    if (operands[1].type->rank() != 2 || rows * in * out > static_cast<size_t>(kMostMultiplied)) return {};
    const bool has_bias = operands.size() > 2 && operands[2].values != nullptr;
    std::vector<double> y(rows * out);
    for (size_t i = 0; i < y.size(); ++i) {
      const auto row = x.begin() + static_cast<std::ptrdiff_t>(i / out * in);
      const double start = has_bias ? (*operands[2].values)[i % out] : 0;
      y[i] = std::inner_product(row, row + static_cast<std::ptrdiff_t>(in),
                                weight.begin() + static_cast<std::ptrdiff_t>(i % out * in), start);
    }
    return {AddConstant(node.outputs[0], BytesOf(node.outputs[0].dtype, y))};
  }

  absl::Status CheckTypes(const graph::Node& node, const Names& inputs) const {
    if (node.attributes.Find("quantized") != nullptr) return Refused("integers that stand for reals");
    bool integers = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].empty() || IsConstant(inputs[i])) continue;
      integers = integers || graph_.TypeOf(node.inputs[i]).dtype != DType::float32;
    }
    const bool moves = graph::IsView(node) || node.op == graph::Op::reshape;
    if (integers && !moves && !ReadsIntegers(node.op)) return Refused("ncnn computes in float32 only");
    for (const TensorType& type : node.outputs) {
      if (type.num_elements() == 0) return Refused("a result without numbers");
    }
    if (moves && integers) return absl::OkStatus();
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (i > 0 && used_.count({static_cast<int32_t>(&node - graph_.nodes().data()), static_cast<int32_t>(i)}) == 0)
        continue;
      const DType dtype = node.outputs[i].dtype;
      if (dtype != DType::float32)
        return Refused("a result of ", graph::DTypeName(dtype), ": ncnn computes in float32 only");
    }
    return absl::OkStatus();
  }

  // The layers of a call; the names of its outputs. REQUIRES: its inputs are up to date, or no
  // views of one memory.
  absl::StatusOr<Names> LayersOf(int32_t index) {
    const graph::Node& node = graph_.nodes()[index];
    Names inputs;
    for (const ValueRef ref : node.inputs) {
      COBRA_ASSIGN_OR_RETURN(std::string name, Current(ref));
      inputs.push_back(std::move(name));
    }
    if (Names folded = Folded(node, inputs); !folded.empty()) return folded;
    const TableRow* row = RowOf(node.op);
    if (row == nullptr) return Refused("ncnn has no layer for it");
    COBRA_RETURN_IF_ERROR(CheckTypes(node, inputs));
    std::vector<bool> used;
    for (size_t i = 0; i < node.outputs.size(); ++i) used.push_back(used_.count({index, static_cast<int32_t>(i)}) > 0);
    CallWriter writer(&network_, graph_, index, std::move(inputs), std::move(used));
    COBRA_ASSIGN_OR_RETURN(Names names, row->handler(writer));
    if (names.size() != node.outputs.size())
      return absl::InternalError(absl::StrCat(graph::OpName(node.op), ": ", names.size(), " outputs were written"));
    for (size_t i = 0; i < names.size(); ++i) {
      if (!names[i].empty() && Product(network_.file.DimsOf(names[i])) != node.outputs[i].num_elements())
        return absl::InternalError(absl::StrCat(graph::OpName(node.op), ": output ", i, " has another size"));
    }
    return names;
  }

  absl::Status AddCall(int32_t index) {
    const graph::Node& node = graph_.nodes()[index];
    const ValueRef first = ValueRef::Node(index);
    if (node.op == graph::Op::as_base || graph::IsAlias(graph_, node)) {
      aliases_.AddSame(first, node.inputs[node.op == graph::Op::as_base ? 1 : 0]);
      return absl::OkStatus();
    }
    COBRA_ASSIGN_OR_RETURN(const Names names, LayersOf(index));
    if (graph::IsView(node) && !layout_.copies[static_cast<size_t>(index)]) {
      aliases_.AddViews(index, names);
      return absl::OkStatus();
    }
    if (node.inplace || node.op == graph::Op::setitem) return AddWrite(index, names);
    for (size_t i = 0; i < names.size(); ++i)
      aliases_.AddRoot(ValueRef::Node(index, static_cast<int32_t>(i)), names[i]);
    return absl::OkStatus();
  }

  // The constant `whole` with the numbers of another at these positions.
  std::string Replaced(const std::string& whole, const Ints& positions, const std::string& part) {
    Constant replaced = network_.constants.at(whole);
    const std::string& bytes = network_.constants.at(part).bytes;
    const auto size = static_cast<size_t>(graph::DTypeBytes(replaced.type.dtype));
    for (size_t i = 0; i < positions.size(); ++i)
      replaced.bytes.replace(static_cast<size_t>(positions[i]) * size, size, bytes, i * size, size);
    return AddConstant(replaced.type, std::move(replaced.bytes));
  }

  // The first output is written to the memory of the first input, which must be all of it in its
  // order, or known.
  absl::Status AddWrite(int32_t index, const Names& names) {
    const graph::Node& node = graph_.nodes()[index];
    const ValueRef target = node.inputs[0];
    if (node.outputs[0] != graph_.TypeOf(target)) return Refused("in place, with a result of another type or size");
    // What was computed from weights alone may be changed by weights alone.
    const ValueRef whole = aliases_.RootOf(target);
    const bool known = IsConstant(names[0]) && IsConstant(aliases_.NameOf(whole)) && whole.is_node();
    if (IsConstant(aliases_.NameOf(target)) && !known) return Refused("in place, on a tensor of the network's own");
    std::string root = names[0];
    if (!aliases_.IsRoot(target)) {
      COBRA_ASSIGN_OR_RETURN(const Ints positions, aliases_.PositionsInRoot(target));
      const bool all = static_cast<int64_t>(positions.size()) == graph_.TypeOf(whole).num_elements() &&
                       std::is_sorted(positions.begin(), positions.end());
      if (!all && !known) return Refused("in place, on a part of another tensor");
      if (known) root = Replaced(aliases_.NameOf(whole), positions, names[0]);
    }
    aliases_.Write(target, root, names[0]);
    aliases_.AddSame(ValueRef::Node(index), target);
    for (size_t i = 1; i < names.size(); ++i)
      aliases_.AddRoot(ValueRef::Node(index, static_cast<int32_t>(i)), names[i]);
    return absl::OkStatus();
  }

  absl::Status AddOutput(size_t i, ValueRef ref) {
    COBRA_ASSIGN_OR_RETURN(const std::string name, Current(ref));
    const TensorType& type = graph_.TypeOf(ref);
    if (type.dtype != DType::float32)
      return Refused("a result of ", graph::DTypeName(type.dtype), ": ncnn computes in float32 only");
    Ints dims = BlobOf(type.shape);
    std::string blob = name;
    if (IsConstant(name)) {
      if (dims.empty()) dims = {type.num_elements()};
      const Constant& constant = network_.constants.at(name);
      blob =
          network_.file.Add("MemoryData", absl::StrCat("output", i), {}, {dims}, SizesOf(dims), {{constant.bytes}})[0];
    } else if (!dims.empty() && network_.file.DimsOf(name) != dims) {
      blob = network_.file.Add("Reshape", absl::StrCat("output", i), {name}, {dims}, SizesOf(dims), {})[0];
    }
    network_.file.AddOutput(i, blob);
    return absl::OkStatus();
  }

  const graph::Graph& graph_;
  const Weights& weights_;
  const graph::Layout layout_;
  Network network_;
  Aliases aliases_;
  std::set<std::pair<int32_t, int32_t>> used_;
};

}  // namespace
}  // namespace ncnn

absl::StatusOr<NcnnFiles> WriteNcnn(const graph::Graph& graph, const Weights& weights) {
  return ncnn::Writer(graph, weights).Write();
}

std::string NcnnWeightsPath(absl::string_view param_path) {
  return absl::StrCat(absl::StripSuffix(param_path, ".param"), ".bin");
}

absl::Status WriteNcnnFiles(const graph::Graph& graph, const Weights& weights, const std::string& path) {
  COBRA_ASSIGN_OR_RETURN(const NcnnFiles files, WriteNcnn(graph, weights));
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(NcnnWeightsPath(path), files.bin));
  return WriteFileAtomic(path, files.param);
}

std::vector<NcnnOperator> NcnnOperators() {
  std::vector<NcnnOperator> operators;
  for (const ncnn::TableRow& row : ncnn::kTable) operators.push_back({row.op, row.note});
  return operators;
}

}  // namespace cobra::exporting
