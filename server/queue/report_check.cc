#include "server/queue/report_check.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text/counted.h"
#include "base/text/json.h"
#include "base/text/json_text.h"
#include "base/text/limit_message.h"
#include "model/predict/target/plausibility.h"
#include "nlohmann/json.hpp"
#include "store/queue/task_subject.h"

namespace cobra::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxSessionBytes = 64 << 10;   // the conditions of a worker take some 2 KB
constexpr size_t kMaxProfileBytes = 512 << 10;  // a network of a thousand calls takes some 60 KB

// Replaces what the record states about its subject by what the task states. Of a sample, only the
// worker knows the graph, and the family of a network.
absl::Status AdoptSubject(store::Subject task, store::Measurement* measurement) {
  store::Subject& reported = measurement->subject;
  if (task.has_graph()) {
    if (reported.has_graph() && reported.fingerprint != task.fingerprint) {
      return absl::InvalidArgumentError(absl::StrCat("graph: its fingerprint is ", reported.fingerprint,
                                                     ", that of the task's graph ", task.fingerprint));
    }
    reported = std::move(task);
    return absl::OkStatus();
  }
  reported.space = std::move(task.space);
  reported.seed = task.seed;
  reported.index = task.index;
  reported.repeat = task.repeat;
  if (measurement->outcome != store::Outcome::ok) return absl::OkStatus();
  const std::string family = reported.label;
  store::ClassifyGraph(reported.graph, &reported);
  if (reported.is_network) reported.label = family;
  return absl::OkStatus();
}

// Null if the model does not know the target.
const predict::TargetSpec* FindSpec(const std::vector<predict::TargetInfo>& targets, absl::string_view name) {
  const auto found = std::find_if(targets.begin(), targets.end(),
                                  [&](const predict::TargetInfo& target) { return target.spec.name == name; });
  return found == targets.end() ? nullptr : &found->spec;
}

absl::Status CheckLatencies(const store::Measurement& measurement, const graph::Graph& graph,
                            const predict::TargetSpec* spec) {
  const store::Latency& latency = measurement.latency;
  COBRA_RETURN_IF_ERROR(store::CheckLatencies(measurement));
  COBRA_RETURN_IF_ERROR(predict::CheckPlausible(graph, latency.median_us, spec));
  if (measurement.profile_json.size() > kMaxProfileBytes) {
    return absl::InvalidArgumentError(
        LimitMessage("profile", static_cast<int64_t>(measurement.profile_json.size()), kMaxProfileBytes, "bytes"));
  }
  const size_t shares = measurement.node_latency_us.size();
  if (shares == 0 || shares == graph.nodes().size()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("node_latency_us: ", Counted(shares, "number"), " for ", Counted(graph.nodes().size(), "call")));
}

void CompareWithPrediction(const graph::Graph& graph, const ModelSnapshot& model, const std::string& target,
                           const CallContext& call, CheckedReport* report) {
  const absl::StatusOr<predict::LatencyPrediction> predicted =
      model.predictor->Predict(graph, target, model.FindCalibration(target), [&call] { return call.Stopped(); });
  if (!predicted.ok() || !(predicted->latency_us > 0)) return;
  report->known = !predicted->extrapolating;
  report->stored.provenance.predicted_us = predicted->latency_us;
  report->stored.doubt = predict::DoubtAbout(report->stored.measurement.latency.median_us, predicted->latency_us,
                                             predicted->extrapolating);
}

}  // namespace

absl::StatusOr<CheckedReport> CheckReport(const v1::TaskRecord& record, const store::TaskSpec& task,
                                          const ModelSnapshot& model, const CallContext& call) {
  if (record.session_json().size() > kMaxSessionBytes) {
    return absl::InvalidArgumentError(
        LimitMessage("session_json", static_cast<int64_t>(record.session_json().size()), kMaxSessionBytes, "bytes"));
  }
  const auto record_bytes = static_cast<int64_t>(record.record_json().size());
  if (record_bytes > store::kMaxRecordBytes)
    return absl::InvalidArgumentError(LimitMessage("record_json", record_bytes, store::kMaxRecordBytes, "bytes"));
  store::GraphReader graphs;  // a worker writes the graph of its task as it has read it
  absl::StatusOr<store::Subject> subject = store::TaskSubjectFromJson(task.subject_json, &graphs);
  if (!subject.ok()) return absl::DataLossError(absl::StrCat("task ", task.id, ": ", subject.status().message()));
  CheckedReport report;
  store::StoredMeasurement& stored = report.stored;
  COBRA_ASSIGN_OR_RETURN(stored.measurement, store::ReportedMeasurement(record.record_json(), &graphs));
  COBRA_RETURN_IF_ERROR(AdoptSubject(*std::move(subject), &stored.measurement));
  stored.task_id = task.id;
  stored.provenance.model_sha256 = model.predictor->info().sha256;
  const Json session = ParseJson<Json>(record.session_json());
  if (session.is_object() && !stored.measurement.conditions.session.empty()) stored.session_json = JsonText(session);
  if (stored.measurement.outcome != store::Outcome::ok) return report;
  const graph::Graph& graph = stored.measurement.subject.graph;
  const std::vector<predict::TargetInfo> targets = model.Targets();
  const predict::TargetSpec* spec = FindSpec(targets, task.target);
  COBRA_RETURN_IF_ERROR(CheckLatencies(stored.measurement, graph, spec));
  if (spec != nullptr) CompareWithPrediction(graph, model, task.target, call, &report);
  COBRA_RETURN_IF_ERROR(call.Check());  // a comparison that was stopped has found nothing
  return report;
}

}  // namespace cobra::server
