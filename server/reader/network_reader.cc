#include "server/reader/network_reader.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "frontend/model_source.h"
#include "frontend/python/reader.h"
#include "graph/form/graph_bytes.h"
#include "proto/graph_proto.h"
#include "proto/model_source_proto.h"
#include "proto/request_words.h"

namespace cobra::server {
namespace {

// What PyTorch runs and takes no time is a mistake: a network without calls, or on empty inputs (a
// batch of 0).
absl::Status CheckHasTime(const graph::Graph& graph) {
  if (graph.nodes().empty()) {
    return UsageError("the model: has no calls of an operator, so there is no time to predict",
                      "its result is an input, a parameter or a constant: check `entry` and `method`");
  }
  for (const graph::NamedTensor& input : graph.inputs()) {
    if (input.type.num_elements() > 0) return absl::OkStatus();
  }
  if (graph.inputs().empty()) return absl::OkStatus();
  return UsageError(
      absl::StrCat(graph::TypeText(graph.inputs()[0].type), ": an input without elements has no latency to predict"),
      "give every dimension of the input at least 1");
}

}  // namespace

absl::Status NoModelError() {
  return UsageError("model: is missing", "set one of source, graph, onnx, tflite, architecture, ncnn");
}

NetworkReader::NetworkReader(const ServerLimits& limits, ReaderProcesses* readers, Metrics* metrics)
    : limits_(limits),
      readers_(readers),
      metrics_(metrics),
      graphs_("networks that are worked on", "try again, or send fewer and smaller ones at a time",
              limits.max_graph_bytes, limits.max_graph_bytes_per_caller) {}

absl::StatusOr<HeldBytes::Part> NetworkReader::Hold(const graph::Graph& graph, const CallContext& call) {
  return HoldBytes(graph::GraphBytes(graph), call);
}

absl::StatusOr<HeldBytes::Part> NetworkReader::HoldBytes(int64_t bytes, const CallContext& call) {
  return graphs_.Hold(call.caller, static_cast<size_t>(bytes));
}

absl::StatusOr<ReadResult> NetworkReader::ReadWithin(const Limits& limits, v1::PredictRequest* request,
                                                     std::optional<absl::string_view> graph_bytes,
                                                     const CallContext& call, bool names_blocks) {
  if (graph_bytes.has_value()) {
    COBRA_ASSIGN_OR_RETURN(graph::Graph graph, proto::GraphFromWire(*graph_bytes, limits.graph));
    return ReadResult{std::move(graph), /*repeatable=*/true, nullptr};
  }
  if (request->has_source() || request->has_onnx() || request->has_tflite() || request->has_ncnn())
    return readers_->Read(request, limits.graph, call);
  COBRA_ASSIGN_OR_RETURN(frontend::ModelSource source, proto::TakeModelSource(request, limits));
  if (auto* architecture = std::get_if<nas::ArchitectureRequest>(&source)) architecture->names_blocks = names_blocks;
  COBRA_ASSIGN_OR_RETURN(graph::Graph graph, frontend::ReadModel(std::move(source), limits));
  return ReadResult{std::move(graph), /*repeatable=*/true, nullptr};
}

absl::StatusOr<ReadResult> NetworkReader::Read(v1::PredictRequest* request, std::optional<absl::string_view> graph,
                                               const CallContext& call, bool names_blocks) {
  COBRA_RETURN_IF_ERROR(call.Check());
  const int64_t left_ms = std::max<int64_t>(1, absl::ToInt64Milliseconds(call.deadline - absl::Now()));
  Limits limits = limits_.read;
  limits.cancelled = call.cancelled;
  limits.wall_time_ms = std::min(limits.wall_time_ms, left_ms);
  absl::StatusOr<ReadResult> result = ReadWithin(limits, request, graph, call, names_blocks);
  if (result.ok()) {
    COBRA_RETURN_IF_ERROR(CheckHasTime(result->graph));
    return result;
  }
  // A program that was stopped because its caller no longer waits is not at fault.
  COBRA_RETURN_IF_ERROR(call.Check());
  if (auto diagnostic = DiagnosticFromStatus(result.status())) metrics_->ReaderFailed(diagnostic->kind);
  return proto::InFieldNames(result.status());
}

absl::StatusOr<graph::Graph> NetworkReader::ReadFor(absl::string_view runtime, v1::PredictRequest* request,
                                                    std::optional<absl::string_view> graph, const CallContext& call) {
  if (!graph.has_value() && request->model_case() == v1::PredictRequest::MODEL_NOT_SET) return NoModelError();
  if (request->has_source()) {
    std::string* version = request->mutable_source()->mutable_torch_version();
    if (version->empty()) *version = python::TorchVersionOf(std::string(runtime));
    COBRA_RETURN_IF_ERROR(proto::InFieldNames(python::CheckTorchVersion(*version)));
  }
  COBRA_ASSIGN_OR_RETURN(ReadResult read, Read(request, graph, call));
  return std::move(read.graph);
}

}  // namespace cobra::server
