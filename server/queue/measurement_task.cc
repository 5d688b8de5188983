#include "server/queue/measurement_task.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/names.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "graph/cost/cost.h"
#include "proto/graph_proto.h"
#include "store/queue/task_subject.h"

namespace cobra::server {
namespace {

constexpr char kSeveralCalls[] = "enqueue the tasks in several calls";

// Takes `count` of what the call may still have.
absl::Status Take(const char* unit, int64_t count, int64_t limit, int64_t* left) {
  if (count <= *left) {
    *left -= count;
    return absl::OkStatus();
  }
  return UserError(Diagnostic::Kind::kLimit, LimitMessage("the tasks of one call", limit, unit), kSeveralCalls);
}

int64_t WeightsOf(const graph::Graph& graph) {
  return static_cast<int64_t>(graph.parameters().size() + graph.buffers().size());
}

absl::StatusOr<store::Subject> SubjectFromProto(const v1::MeasurementTask& task, const GraphLimits& limits,
                                                EnqueueLimits* left) {
  if (task.repeat() < 0) return UsageError(absl::StrCat("repeat ", task.repeat(), ": counts from 0"));
  switch (task.subject_case()) {
    case v1::MeasurementTask::kGraph: {
      COBRA_ASSIGN_OR_RETURN(const graph::Graph named, proto::GraphFromProto(task.graph(), limits));
      COBRA_ASSIGN_OR_RETURN(graph::Graph graph, store::WithoutNames(named));
      COBRA_RETURN_IF_ERROR(CheckTaskGraph(graph, TaskLimits()));
      COBRA_RETURN_IF_ERROR(
          Take("bytes", store::MostSubjectBytes(graph), EnqueueLimits().max_subject_bytes, &left->max_subject_bytes));
      COBRA_RETURN_IF_ERROR(
          Take("parameters and buffers", WeightsOf(graph), EnqueueLimits().max_weights, &left->max_weights));
      return store::AskedSubject(std::move(graph), task.repeat());
    }
    case v1::MeasurementTask::kSample: {
      const v1::SpaceSample& sample = task.sample();
      COBRA_RETURN_IF_ERROR(CheckApiName("sample.space", sample.space(), 64));
      if (sample.index() < 0) return UsageError(absl::StrCat("sample.index ", sample.index(), ": counts from 0"));
      store::Subject subject;
      subject.space = sample.space();
      subject.index = sample.index();
      subject.seed = sample.seed();
      subject.repeat = task.repeat();
      return subject;
    }
    case v1::MeasurementTask::SUBJECT_NOT_SET: break;
  }
  return UsageError("subject: neither graph nor sample is given");
}

// A worker gets what this writes: a subject that its reader refuses would fail every lease of its
// target.
absl::StatusOr<std::string> ReadableSubject(const store::Subject& subject) {
  std::string json = store::TaskSubjectToJson(subject);
  const auto bytes = static_cast<int64_t>(json.size());
  if (bytes > store::kMaxSubjectBytes) {
    return UserError(Diagnostic::Kind::kLimit, LimitMessage("graph, as text", bytes, store::kMaxSubjectBytes, "bytes"));
  }
  const absl::Status read = store::TaskSubjectFromJson(json).status();
  if (read.ok()) return json;
  return UserError(Diagnostic::Kind::kLimit, absl::StrCat("graph: no worker could read it: ", read.message()));
}

}  // namespace

absl::Status CheckTaskGraph(const graph::Graph& graph, const TaskLimits& limits) {
  if (graph.nodes().empty()) return UsageError("graph: has no calls, so there is nothing to measure");
  const auto too_much = [](const char* what, int64_t count, int64_t limit, const char* unit) {
    return UserError(Diagnostic::Kind::kLimit, LimitMessage(what, count, limit, unit),
                     "measure it on the device: cobra-worker measure --graph FILE");
  };
  const auto calls = static_cast<int64_t>(graph.nodes().size());
  if (calls > limits.max_calls) return too_much("graph", calls, limits.max_calls, "calls");
  const auto tensors = static_cast<int64_t>(graph.inputs().size() + graph.parameters().size() + graph.buffers().size() +
                                            graph.constants().size());
  if (tensors > limits.max_tensors) return too_much("graph", tensors, limits.max_tensors, "tensors");
  const int64_t weights = WeightsOf(graph);
  if (weights > limits.max_weights) return too_much("graph", weights, limits.max_weights, "parameters and buffers");
  const int64_t subject_bytes = store::MostSubjectBytes(graph);
  if (subject_bytes > limits.max_subject_bytes)
    return too_much("graph, as text", subject_bytes, limits.max_subject_bytes, "bytes");
  const int64_t macs = graph::CostOf(graph).macs, bytes = graph::PeakMemoryBytes(graph);
  if (macs > limits.max_macs) return too_much("graph", macs, limits.max_macs, "multiply-accumulates");
  if (bytes > limits.max_bytes) return too_much("graph, at its peak", bytes, limits.max_bytes, "bytes");
  return absl::OkStatus();
}

store::QueueShare QueueShareOf(const Principal* principal, const QueueLimits& limits) {
  store::QueueShare share;
  share.max_tasks = share.max_caller_tasks = limits.max_tasks;
  share.max_bytes = share.max_caller_bytes = limits.max_bytes;
  share.revives_poisoned = principal == nullptr || principal->role == Role::kAdmin;
  if (principal == nullptr) return share;
  if (principal->role == Role::kAdmin) {
    share.max_tasks *= 2;
    share.max_bytes *= 2;
  } else {
    share.max_caller_tasks = limits.max_caller_tasks;
    share.max_caller_bytes = limits.max_caller_bytes;
  }
  return share;
}

absl::StatusOr<store::TaskSpec> TaskSpecFromProto(const v1::MeasurementTask& task, const GraphLimits& limits,
                                                  EnqueueLimits* left) {
  COBRA_RETURN_IF_ERROR(CheckApiName("target", task.target()));
  if (!task.origin().empty()) COBRA_RETURN_IF_ERROR(CheckApiName("origin", task.origin(), 64));
  if (!task.task_id().empty()) return UsageError("task_id: the server computes it; leave it empty");
  if (task.max_attempts() < 0 || task.max_attempts() > 100) {
    return UsageError(absl::StrCat("max_attempts ", task.max_attempts(), ": 1 to 100, or 0 for 3"));
  }
  COBRA_ASSIGN_OR_RETURN(const store::Subject subject, SubjectFromProto(task, limits, left));
  store::TaskSpec spec;
  COBRA_ASSIGN_OR_RETURN(spec.subject_json, ReadableSubject(subject));
  spec.id = store::TaskIdOfJson(spec.subject_json, task.target());
  spec.target = task.target();
  spec.priority = task.priority();
  spec.origin = task.origin();
  spec.max_attempts = task.max_attempts() == 0 ? 3 : task.max_attempts();
  return spec;
}

store::TaskSpec TaskSpecOfGraph(const graph::Graph& graph, absl::string_view target, absl::string_view origin) {
  absl::StatusOr<graph::Graph> nameless = store::WithoutNames(graph);
  store::TaskSpec spec;
  spec.subject_json = store::TaskSubjectToJson(store::AskedSubject(nameless.ok() ? *std::move(nameless) : graph));
  spec.id = store::TaskIdOfJson(spec.subject_json, target);
  spec.target = std::string(target);
  spec.origin = std::string(origin);
  return spec;
}

absl::StatusOr<v1::MeasurementTask> TaskSpecToProto(const store::TaskSpec& spec) {
  v1::MeasurementTask task;
  task.set_task_id(spec.id);
  task.set_target(spec.target);
  task.set_priority(static_cast<int32_t>(spec.priority));
  task.set_origin(spec.origin);
  task.set_max_attempts(static_cast<int32_t>(spec.max_attempts));
  const absl::StatusOr<store::Subject> subject = store::TaskSubjectFromJson(spec.subject_json);
  if (!subject.ok()) return absl::InternalError(absl::StrCat("task ", spec.id, ": ", subject.status().message()));
  task.set_repeat(subject->repeat);
  if (subject->has_graph()) {
    proto::GraphToProto(subject->graph, task.mutable_graph());
    return task;
  }
  task.mutable_sample()->set_space(subject->space);
  task.mutable_sample()->set_index(subject->index);
  task.mutable_sample()->set_seed(subject->seed);
  return task;
}

}  // namespace cobra::server
