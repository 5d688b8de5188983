#include "tests/fuzz/entry_points.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "cobra/v1/graph.pb.h"
#include "frontend/nas/reader.h"
#include "frontend/onnx/reader.h"
#include "frontend/python/reader.h"
#include "frontend/python/syntax/parser.h"
#include "frontend/tflite/reader.h"
#include "google/protobuf/stubs/logging.h"
#include "graph/cost.h"
#include "graph/fingerprint.h"
#include "graph/json.h"
#include "proto/graph_proto.h"

namespace cobra::fuzz {
namespace {

[[noreturn]] void Fail(const char* what, const std::string& detail) {
  std::fprintf(stderr, "fuzz: %s: %s\n", what, detail.c_str());
  std::abort();
}

void CheckRefusal(const absl::Status& status) {
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  if (!diagnostic.has_value()) Fail("refused without a diagnostic", status.ToString());
  if (diagnostic->message.empty()) Fail("a diagnostic without a message", status.ToString());
  (void)RenderDiagnostic(*diagnostic);
}

// What is done with every graph that was read.
void Use(const Graph& graph) {
  const GraphCost cost = CostOf(graph);
  if (cost.flops < 0 || cost.macs < 0) Fail("negative cost", PrintGraph(graph));
  if (PeakMemoryBytes(graph) < 0) Fail("negative memory", PrintGraph(graph));
  const std::string json = GraphToJson(graph);
  const absl::StatusOr<Graph> again = GraphFromJson(json);
  if (!again.ok()) Fail("not read back from JSON", again.status().ToString() + "\n" + json);
  if (Fingerprint(*again) != Fingerprint(graph)) Fail("another graph read back from JSON", json);
  v1::Graph proto;
  GraphToProto(graph, &proto);
  const absl::StatusOr<Graph> from_proto = GraphFromProto(proto);
  if (!from_proto.ok()) Fail("not read back from its message", from_proto.status().ToString() + "\n" + json);
}

void Check(const absl::StatusOr<Graph>& graph) {
  if (graph.ok()) {
    Use(*graph);
  } else {
    CheckRefusal(graph.status());
  }
}

// Limits of sizes stay the usual ones, so that the pool's frozen interpreters are in play.
Limits Small() {
  Limits limits;
  limits.steps = 40'000;
  limits.graph.max_nodes = 2000;
  limits.onnx.max_steps = 5000;
  limits.wall_time_ms = 5000;
  return limits;
}

}  // namespace

void Source(absl::string_view data) {
  // Most of what a fuzzer makes is no Python: that needs no interpreter.
  if (const auto parsed = ast::ParseModule(data, "model.py"); !parsed.ok()) return CheckRefusal(parsed.status());
  SourceRequest request;
  request.bundle["model.py"] = std::string(data);
  request.file = "model.py";
  request.entry = "Net()";
  request.inputs = {"1x3x8x8"};
  Check(ReadPythonModel(request, Small()));
}

void GraphMessage(absl::string_view data) {
  static const bool quiet = (google::protobuf::SetLogHandler(nullptr), true);  // it complains of each name that is not UTF-8
  (void)quiet;
  if (!data.empty() && data[0] == '{') return Check(GraphFromJson(data));
  v1::Graph proto;
  if (!proto.ParseFromArray(data.data(), static_cast<int>(data.size()))) return;
  Check(GraphFromProto(proto, Small().graph));
}

void Onnx(absl::string_view data) {
  Check(ReadOnnxModel(data, {}, Small()));
}

void Tflite(absl::string_view data) {
  const Limits limits = Small();
  const absl::StatusOr<Graph> graph = ReadTfliteModel(data, {}, limits);
  Check(graph);
  if (!graph.ok()) return;
  TfliteRequest larger;
  for (const NamedTensor& input : graph->inputs()) {
    Shape shape = input.type.shape;
    if (!shape.empty()) shape[0] += 2;
    larger.inputs.push_back(ShapeText(shape));
  }
  Check(ReadTfliteModel(data, larger, limits));
}

void Architecture(absl::string_view data) {
  constexpr absl::string_view kInput = "\n--input ";
  ArchitectureRequest request;
  size_t end = data.find(kInput);
  request.architecture = std::string(data.substr(0, end));
  while (end != absl::string_view::npos) {
    data.remove_prefix(end + kInput.size());
    end = data.find(kInput);
    request.inputs.emplace_back(data.substr(0, end));
  }
  Check(ReadArchitecture(request, Small()));
}

}  // namespace cobra::fuzz
