// Networks as ONNX models (FORMAT onnx), for ncnn (ncnn) or as PyTorch programs (py) beside what
// LibTorch's executor computes with the same numbers, to be compared with what a runtime computes
// from them (onnx_runtime_test.py, ncnn_run_test.py, program_test.py).
//   export_network FORMAT --cases DIR            single calls of every operator
//                                                (tests/worker/executor_cases.h, more_cases.h)
//   export_network FORMAT GRAPH.json DIR NAME    a network
//   export_network --same GRAPH.json NET.onnx|param    prints nothing if the reader makes the same
//                                                      network of the file
//   export_network --strides DIR                 programs of those calls on tensors in other memory
//                                                orders, and the strides that come out
//                                                (strides_test.py)
//   export_network --document                    docs/onnx_export.md
//   export_network --ncnn-document               docs/ncnn_export.md
// Writes DIR/NAME.onnx, NAME.param or NAME.py, NAME.safetensors or NAME.bin, NAME.in (the inputs'
// bytes one after the other), NAME.out (the outputs as float64), and prints a line of JSON for
// each: {"name", "op", "inputs": [{"name", "dtype", "shape"}], "outputs": [shape]}, or with
// "refused" (the writer's reason) or "not_run" (LibTorch's).
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "export/ncnn/writer.h"
#include "export/onnx/writer.h"
#include "export/python/program.h"
#include "export/weights.h"
#include "frontend/ncnn/reader.h"
#include "frontend/onnx/reader.h"
#include "graph/builder/builder.h"
#include "graph/constants/constant_calls.h"
#include "graph/form/fingerprint.h"
#include "graph/form/json.h"
#include "graph/shape/layout.h"
#include "nlohmann/json.hpp"
#include "tests/export/export_document.h"
#include "tests/export/more_cases.h"
#include "worker/execute/executor.h"

namespace cobra::exporting {
namespace {

constexpr uint64_t kSeed = 1;

// Which operands are weights in a network.
bool IsWeight(graph::Op op, size_t operand) {
  const auto& arguments = graph::GetOpInfo(op).inputs;
  if (operand == 0 || operand >= arguments.size()) return false;
  const absl::string_view name = arguments[operand].name;
  return absl::StrContains(name, "weight") || absl::StrContains(name, "bias") || absl::StrContains(name, "running");
}

// One sample of the case, with its weights as parameters. A sequence has its batch in the middle.
worker::Case OneSample(worker::Case c) {
  const size_t at = c.op == graph::Op::multi_head_attention_forward ? 1 : 0;
  for (size_t i = 0; i < c.operands.size(); ++i) {
    graph::Shape& shape = c.operands[i].shape;
    if (!IsWeight(c.op, i) && !c.operands[i].absent && shape.size() > 2) shape[at] = 1;
  }
  return c;
}

absl::StatusOr<graph::Graph> GraphOf(const worker::Case& c, bool weights_are_parameters) {
  graph::GraphBuilder builder;
  graph::ValueRefs inputs;
  for (size_t i = 0; i < c.operands.size(); ++i) {
    const worker::Operand& operand = c.operands[i];
    const graph::TensorType type{operand.shape, operand.dtype};
    inputs.push_back(operand.absent                                ? graph::ValueRef::None()
                     : weights_are_parameters && IsWeight(c.op, i) ? builder.AddParameter("weight", type)
                                                                   : builder.AddInput("x", type));
  }
  COBRA_ASSIGN_OR_RETURN(const int32_t node, builder.Add(c.op, c.attributes, std::move(inputs), {}, c.inplace));
  std::vector<graph::ValueRef> outputs;
  for (size_t i = 0; i < builder.nodes()[node].outputs.size(); ++i)
    outputs.push_back(graph::ValueRef::Node(node, static_cast<int32_t>(i)));
  return std::move(builder).Build(outputs);
}

// Random numbers; boundaries to search in are sorted.
std::string InputOf(const graph::Graph& graph, int32_t input) {
  const std::string bytes = RandomInput(graph, input, kSeed);
  const graph::TensorType& type = graph.inputs()[input].type;
  for (const graph::Node& node : graph.nodes()) {
    const bool sorted =
        (node.op == graph::Op::bucketize && input == 1) || (node.op == graph::Op::searchsorted && input == 0);
    if (!sorted) continue;
    std::vector<double> values = ValuesOf(type.dtype, bytes);
    for (auto row = values.begin(); row != values.end(); row += type.shape.back())
      std::sort(row, row + type.shape.back());
    return BytesOf(type.dtype, values);
  }
  return bytes;
}

absl::StatusOr<std::string> Computed(const graph::Graph& graph, const Weights& weights, std::string* inputs) {
  COBRA_ASSIGN_OR_RETURN(const auto executor, worker::Executor::Create(graph, kSeed));
  const auto set_all = [&](absl::Span<const graph::NamedTensor> tensors, graph::ValueRef (*ref_of)(int32_t),
                           bool is_input) -> absl::Status {
    for (size_t i = 0; i < tensors.size(); ++i) {
      const graph::ValueRef ref = ref_of(static_cast<int32_t>(i));
      const std::string bytes = is_input ? InputOf(graph, ref.index) : std::string(weights.Bytes(ref));
      if (is_input) inputs->append(bytes);
      COBRA_RETURN_IF_ERROR(executor->SetValues(ref, ValuesOf(tensors[i].type.dtype, bytes)));
    }
    return absl::OkStatus();
  };
  COBRA_RETURN_IF_ERROR(set_all(graph.inputs(), graph::ValueRef::Input, true));
  COBRA_RETURN_IF_ERROR(set_all(graph.parameters(), graph::ValueRef::Parameter, false));
  COBRA_RETURN_IF_ERROR(set_all(graph.buffers(), graph::ValueRef::Buffer, false));
  COBRA_RETURN_IF_ERROR(set_all(graph.constants(), graph::ValueRef::Constant, false));
  COBRA_ASSIGN_OR_RETURN(const auto outputs, executor->RunForValues());
  std::string bytes;
  for (const std::vector<double>& output : outputs) absl::StrAppend(&bytes, BytesOf(graph::DType::float64, output));
  return bytes;
}

nlohmann::ordered_json Described(const graph::Graph& graph) {
  nlohmann::ordered_json json;
  json["inputs"] = nlohmann::ordered_json::array();
  for (const graph::NamedTensor& input : graph.inputs()) {
    json["inputs"].push_back({{"dtype", std::string(graph::DTypeName(input.type.dtype))},
                              {"shape", std::vector<int64_t>(input.type.shape.begin(), input.type.shape.end())}});
  }
  json["outputs"] = nlohmann::ordered_json::array();
  for (const graph::ValueRef ref : graph.outputs()) {
    const graph::Shape& shape = graph.TypeOf(ref).shape;
    json["outputs"].push_back(std::vector<int64_t>(shape.begin(), shape.end()));
  }
  return json;
}

absl::Status WriteFiles(const graph::Graph& graph, const Weights& weights, const std::string& format,
                        const std::string& path) {
  if (format == "ncnn") return WriteNcnnFiles(graph, weights, absl::StrCat(path, ".param"));
  if (format == "onnx") return WriteOnnxFiles(graph, weights, absl::StrCat(path, ".onnx"));
  COBRA_ASSIGN_OR_RETURN(const std::string program, WriteProgram(graph, ""));
  COBRA_RETURN_IF_ERROR(WeightsFile(graph).Write(weights, absl::StrCat(path, ".safetensors")));
  return WriteFileAtomic(absl::StrCat(path, ".py"), program);
}

absl::Status WriteNetwork(const graph::Graph& given, const std::string& format, const std::string& folder,
                          const std::string& name, const std::string& op) {
  // As cobra-client writes it (client/explain/graph_command.cc).
  const std::optional<graph::WithoutCalls> prepared =
      format == "py" ? std::nullopt : graph::WithoutConstantCalls(given, /*of_parameters=*/false);
  const graph::Graph& graph = prepared.has_value() ? prepared->graph : given;
  nlohmann::ordered_json json = Described(graph);
  json["name"] = name;
  json["op"] = op;
  const auto print = [&json] { std::printf("%s\n", json.dump().c_str()); };
  const std::string path = absl::StrCat(folder, "/", name);
  const absl::StatusOr<Weights> weights = Weights::Random(graph, kSeed);
  const absl::Status written = weights.ok() ? WriteFiles(graph, *weights, format, path) : weights.status();
  if (!written.ok()) {
    if (!absl::IsUnimplemented(written)) return written;
    json["refused"] = std::string(written.message());
    print();
    return absl::OkStatus();
  }
  std::string inputs;
  const absl::StatusOr<std::string> outputs = Computed(graph, *weights, &inputs);
  if (!outputs.ok()) {
    json["not_run"] = std::string(outputs.status().message());
    print();
    return absl::OkStatus();
  }
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(absl::StrCat(path, ".in"), inputs));
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(absl::StrCat(path, ".out"), *outputs));
  print();
  return absl::OkStatus();
}

absl::Status WriteCases(const std::string& format, const std::string& folder) {
  std::vector<worker::Case> cases = worker::AllCases();
  for (worker::Case& c : MoreCases()) cases.push_back(std::move(c));
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::string op(graph::OpName(cases[i].op));
    const absl::StatusOr<graph::Graph> graph = GraphOf(cases[i], false);
    if (!graph.ok()) return absl::InternalError(absl::StrCat("case ", i, " (", op, "): ", graph.status().message()));
    COBRA_RETURN_IF_ERROR(WriteNetwork(*graph, format, folder, absl::StrCat(i, "-", op), op));
    if (format != "ncnn") continue;
    // Its layers have their weights in a file, and no batch.
    const absl::StatusOr<graph::Graph> sample = GraphOf(OneSample(cases[i]), true);
    if (!sample.ok() || graph::Fingerprint(*sample) == graph::Fingerprint(*graph)) continue;
    COBRA_RETURN_IF_ERROR(WriteNetwork(*sample, format, folder, absl::StrCat(i, "-", op, "-sample"), op));
  }
  return absl::OkStatus();
}

// Without what a file cannot hold: calls in place, and tensors that no call reads; without the
// difference between parameters and buffers, if it has none.
absl::StatusOr<graph::Graph> WithoutEffects(const graph::Graph& graph, bool has_buffers) {
  graph::GraphBuilder builder;
  std::map<std::pair<graph::ValueRef::Kind, int32_t>, graph::ValueRef> leaves;
  for (size_t i = 0; i < graph.inputs().size(); ++i)
    leaves[{graph::ValueRef::Kind::kInput, i}] = builder.AddInput("x", graph.inputs()[i].type);
  const auto here = [&](graph::ValueRef ref) {
    if (ref.is_none() || ref.is_node()) return ref;
    const auto [found, is_new] = leaves.try_emplace({ref.kind, ref.index});
    if (is_new) {
      const graph::TensorType& type = graph.TypeOf(ref);
      found->second = ref.kind == graph::ValueRef::Kind::kParameter ? builder.AddParameter("p", type)
                      : ref.kind == graph::ValueRef::Kind::kBuffer
                          ? (has_buffers ? builder.AddBuffer("b", type) : builder.AddParameter("p", type))
                          : builder.AddConstant("c", type);
    }
    return found->second;
  };
  for (const graph::Node& node : graph.nodes()) {
    graph::ValueRefs inputs;
    for (const graph::ValueRef ref : node.inputs) inputs.push_back(here(ref));
    COBRA_RETURN_IF_ERROR(builder.Add(node.op, node.attributes, std::move(inputs)).status());
  }
  std::vector<graph::ValueRef> outputs;
  for (const graph::ValueRef ref : graph.outputs()) outputs.push_back(here(ref));
  return std::move(builder).Build(outputs);
}

// The case with its first tensor in another memory order: how 0: the last two dimensions swapped,
// 1: the second one innermost (channels last), 2: every second element, 3: as it is, but the second
// tensor has its last two dimensions swapped. Unimplemented if it has not enough dimensions.
absl::StatusOr<graph::Graph> Reordered(const worker::Case& c, int how) {
  const size_t which = how == 3 ? 1 : 0;
  const worker::Operand* first = c.operands.size() <= which ? nullptr : &c.operands[which];
  const int rank = first == nullptr || first->absent ? 0 : static_cast<int>(first->shape.size());
  if (rank < (how == 1 ? 3 : 2)) return absl::UnimplementedError("not enough dimensions");
  graph::GraphBuilder builder;
  graph::Shape shape = first->shape;
  graph::Attributes attributes;
  if (how == 0 || how == 3) {
    std::swap(shape[rank - 1], shape[rank - 2]);
    attributes = {{"dim0", int64_t{-1}}, {"dim1", int64_t{-2}}};
  } else if (how == 1) {
    std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
    std::vector<int64_t> dims(rank);
    std::iota(dims.begin(), dims.end(), 0);
    std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
    attributes = {{"dims", dims}};
  } else {
    shape.back() *= 2;
    attributes = {{"index", std::string("..., ::2")}};
  }
  const graph::Op view = how == 0 || how == 3 ? graph::Op::transpose
                         : how == 1           ? graph::Op::permute
                                              : graph::Op::getitem;
  const graph::ValueRef x = builder.AddInput("x", graph::TensorType{shape, first->dtype});
  COBRA_ASSIGN_OR_RETURN(const int32_t moved, builder.Add(view, attributes, {x}));
  graph::ValueRefs inputs;
  for (size_t i = 0; i < c.operands.size(); ++i) {
    const worker::Operand& operand = c.operands[i];
    inputs.push_back(i == which       ? graph::ValueRef::Node(moved)
                     : operand.absent ? graph::ValueRef::None()
                                      : builder.AddInput("y", graph::TensorType{operand.shape, operand.dtype}));
  }
  COBRA_ASSIGN_OR_RETURN(const int32_t node, builder.Add(c.op, c.attributes, std::move(inputs), {}, c.inplace));
  std::vector<graph::ValueRef> outputs;
  for (size_t i = 0; i < builder.nodes()[node].outputs.size(); ++i)
    outputs.push_back(graph::ValueRef::Node(node, static_cast<int32_t>(i)));
  return std::move(builder).Build(outputs);
}

// Programs of reordered cases; a line of JSON for each, with the strides that graph/shape/layout.h
// says.
absl::Status WriteStrides(const std::string& folder) {
  std::vector<worker::Case> cases = worker::AllCases();
  for (worker::Case& c : MoreCases()) cases.push_back(std::move(c));
  for (size_t i = 0; i < cases.size() * 4; ++i) {
    const std::string op(graph::OpName(cases[i / 4].op));
    const absl::StatusOr<graph::Graph> graph = Reordered(cases[i / 4], static_cast<int>(i % 4));
    if (absl::IsUnimplemented(graph.status())) continue;
    COBRA_RETURN_IF_ERROR(graph.status());
    const absl::StatusOr<std::string> program = WriteProgram(*graph, "");
    const absl::StatusOr<Weights> weights = Weights::Random(*graph, kSeed);
    if (!program.ok() || !weights.ok()) continue;
    nlohmann::ordered_json json = Described(*graph);
    json["op"] = op;
    json["name"] = absl::StrCat(i / 4, "-", op, "-", i % 4);
    json["strides"] = nlohmann::ordered_json::array();
    const graph::Layout layout = graph::ComputeLayout(*graph);
    for (const graph::ValueRef ref : graph->outputs()) {
      const graph::Strides strides = layout.Of(*graph, ref);
      json["strides"].push_back(std::vector<int64_t>(strides.begin(), strides.end()));
    }
    std::string inputs;
    for (size_t k = 0; k < graph->inputs().size(); ++k) inputs += InputOf(*graph, static_cast<int32_t>(k));
    const std::string path = absl::StrCat(folder, "/", std::string(json["name"]));
    COBRA_RETURN_IF_ERROR(WriteFileAtomic(absl::StrCat(path, ".in"), inputs));
    COBRA_RETURN_IF_ERROR(WriteFileAtomic(absl::StrCat(path, ".py"), *program));
    COBRA_RETURN_IF_ERROR(WeightsFile(*graph).Write(*weights, absl::StrCat(path, ".safetensors")));
    std::printf("%s\n", json.dump().c_str());
  }
  return absl::OkStatus();
}

absl::Status PrintDifference(const std::string& json_path, const std::string& path) {
  const bool is_ncnn = absl::EndsWith(path, ".param");
  COBRA_ASSIGN_OR_RETURN(const std::string json, ReadFile(json_path));
  COBRA_ASSIGN_OR_RETURN(graph::Graph written, graph::GraphFromJson(json));
  COBRA_ASSIGN_OR_RETURN(written, WithoutEffects(written, !is_ncnn));
  COBRA_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  COBRA_ASSIGN_OR_RETURN(graph::Graph read, is_ncnn ? ncnn::ReadNcnnModel(bytes, {}) : onnx::ReadOnnxModel(bytes, {}));
  COBRA_ASSIGN_OR_RETURN(read, WithoutEffects(read, !is_ncnn));
  if (graph::Fingerprint(written) == graph::Fingerprint(read)) return absl::OkStatus();
  const std::vector<std::string> one = absl::StrSplit(graph::PrintGraph(written), '\n');
  const std::vector<std::string> other = absl::StrSplit(graph::PrintGraph(read), '\n');
  size_t line = 0;
  while (line + 1 < std::min(one.size(), other.size()) && one[line] == other[line]) ++line;
  std::printf("the reader makes another network of it: \"%s\" is \"%s\"\n", one[line].c_str(), other[line].c_str());
  return absl::OkStatus();
}

absl::Status Main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--document") == 0) {
    std::fputs(ExportDocument().c_str(), stdout);
    return absl::OkStatus();
  }
  if (argc == 2 && std::strcmp(argv[1], "--ncnn-document") == 0) {
    std::fputs(NcnnExportDocument().c_str(), stdout);
    return absl::OkStatus();
  }
  if (argc == 4 && std::strcmp(argv[1], "--same") == 0) return PrintDifference(argv[2], argv[3]);
  if (argc == 3 && std::strcmp(argv[1], "--strides") == 0) return WriteStrides(argv[2]);
  const std::string format = argc > 1 ? argv[1] : "";
  if ((argc != 4 && argc != 5) || (format != "onnx" && format != "ncnn" && format != "py"))
    return absl::InvalidArgumentError(
        "usage: export_network onnx|ncnn|py --cases DIR | onnx|ncnn|py GRAPH.json DIR NAME");
  worker::ConfigureLibTorch(1);
  if (argc == 4) return WriteCases(format, argv[3]);
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(argv[2]));
  COBRA_ASSIGN_OR_RETURN(const graph::Graph graph, graph::GraphFromJson(text));
  return WriteNetwork(graph, format, argv[3], argv[4], "");
}

}  // namespace
}  // namespace cobra::exporting

int main(int argc, char** argv) {
  const absl::Status status = cobra::exporting::Main(argc, argv);
  if (!status.ok()) std::fprintf(stderr, "export_network: %s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
