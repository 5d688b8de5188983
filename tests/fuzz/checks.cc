#include "tests/fuzz/checks.h"

#include <cstdio>
#include <cstdlib>

#include "base/bytes/hash.h"
#include "base/diagnostic.h"
#include "cobra/v1/graph.pb.h"
#include "graph/cost/cost.h"
#include "graph/form/fingerprint.h"
#include "graph/form/json.h"
#include "proto/graph_proto.h"

namespace cobra::fuzz {

void Fail(const char* what, const std::string& detail) {
  std::fprintf(stderr, "fuzz: %s: %s\n", what, detail.c_str());
  std::abort();
}

namespace {

bool every_check = false;

// Printed, and read again.
void RoundTrips(const graph::Graph& graph) {
  const std::string json = graph::GraphToJson(graph);
  const absl::StatusOr<graph::Graph> again = graph::GraphFromJson(json);
  if (!again.ok()) Fail("not read back from JSON", again.status().ToString() + "\n" + json);
  if (graph::Fingerprint(*again) != graph::Fingerprint(graph)) Fail("another graph read back from JSON", json);
  const std::string bytes = proto::GraphToWire(graph);
  v1::Graph message;
  if (!message.ParseFromString(bytes) || message.SerializeAsString() != bytes)
    Fail("not the bytes that protobuf writes", json);
  const absl::StatusOr<graph::Graph> from_bytes = proto::GraphFromWire(bytes);
  if (!from_bytes.ok()) Fail("not read back from its message", from_bytes.status().ToString() + "\n" + json);
}

// What is done with a graph that was read.
void Use(const graph::Graph& graph, absl::string_view input) {
  const graph::GraphCost cost = graph::CostOf(graph);
  if (cost.flops < 0 || cost.macs < 0) Fail("negative cost", graph::PrintGraph(graph));
  if (graph::PeakMemoryBytes(graph) < 0) Fail("negative memory", graph::PrintGraph(graph));
  if (IsDue(input, graph.nodes().size())) RoundTrips(graph);
}

}  // namespace

void MakeEveryCheck() { every_check = true; }

bool IsDue(absl::string_view input, size_t times) {
  return every_check || times <= 1 || HashBytes(input).low % times == 0;
}

void CheckRefusal(const absl::Status& status) {
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  if (!diagnostic.has_value()) Fail("refused without a diagnostic", status.ToString());
  if (diagnostic->message.empty()) Fail("a diagnostic without a message", status.ToString());
  (void)RenderDiagnostic(*diagnostic);
}

void CheckMessage(const absl::Status& status) {
  if (status.message().empty()) Fail("refused without a message", status.ToString());
}

void Check(const absl::StatusOr<graph::Graph>& graph, absl::string_view input) {
  if (graph.ok()) {
    Use(*graph, input);
  } else {
    CheckRefusal(graph.status());
  }
}

Limits SmallLimits() {
  Limits limits;
  limits.steps = 40'000;
  limits.graph.max_nodes = 2000;
  limits.onnx.max_steps = 5000;
  limits.wall_time_ms = 5000;
  return limits;
}

}  // namespace cobra::fuzz
