#include "server/measurement_task.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/hash.h"
#include "base/limit_message.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "proto/graph_proto.h"
#include "store/task_subject.h"

namespace cobra::server {
namespace {

absl::Status Usage(std::string message, std::string hint = "") {
  return UserError(Diagnostic::Kind::kUsage, std::move(message), std::move(hint));
}

absl::StatusOr<store::TaskSubject> SubjectFromProto(const v1::MeasurementTask& task, const GraphLimits& limits) {
  store::TaskSubject subject;
  if (task.repeat() < 0) return Usage(absl::StrCat("repeat ", task.repeat(), ": counts from 0"));
  subject.repeat = task.repeat();
  switch (task.subject_case()) {
    case v1::MeasurementTask::kGraph: {
      COBRA_ASSIGN_OR_RETURN(subject.what, proto::GraphFromProto(task.graph(), limits));
      return subject;
    }
    case v1::MeasurementTask::kSample: {
      const v1::SpaceSample& sample = task.sample();
      COBRA_RETURN_IF_ERROR(CheckName("sample.space", sample.space(), 64));
      if (sample.index() < 0) return Usage(absl::StrCat("sample.index ", sample.index(), ": counts from 0"));
      subject.what = store::SpaceIndex{sample.space(), sample.index(), sample.seed()};
      return subject;
    }
    case v1::MeasurementTask::SUBJECT_NOT_SET: break;
  }
  return Usage("subject: neither graph nor sample is given");
}

// The same subject, target and repetition have the same id, whichever caller requests them.
std::string IdOf(const store::TaskSubject& subject, absl::string_view target) {
  return HashCombine(HashCombine(subject.Hash(), HashBytes(target)), static_cast<uint64_t>(subject.repeat)).ToHex();
}

}  // namespace

// Checks a name that is printed, becomes a label of a metric, or becomes part of a file name.
absl::Status CheckName(absl::string_view what, absl::string_view name, size_t longest) {
  if (name.size() > longest) {
    return Usage(LimitMessage(what, static_cast<int64_t>(name.size()), static_cast<int64_t>(longest), "letters"));
  }
  for (const char c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') {
      return Usage(absl::StrCat(what, " \"", name, "\": may have letters, digits, '-', '_' and '.' only"));
    }
  }
  if (name.empty()) return Usage(absl::StrCat(what, ": is empty"));
  return absl::OkStatus();
}

bool IsTaskId(absl::string_view id) {
  if (id.size() != 32) return false;
  for (const char c : id) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c)) && !(c >= 'a' && c <= 'f')) return false;
  }
  return true;
}

absl::StatusOr<store::TaskSpec> TaskSpecFromProto(const v1::MeasurementTask& task, const GraphLimits& limits) {
  COBRA_RETURN_IF_ERROR(CheckName("target", task.target(), 200));
  if (!task.origin().empty()) COBRA_RETURN_IF_ERROR(CheckName("origin", task.origin(), 64));
  if (!task.task_id().empty() && !IsTaskId(task.task_id())) {
    return Usage(absl::StrCat("\"", task.task_id().substr(0, 64), "\": a task_id has 32 digits, 0 to 9 and a to f"));
  }
  if (task.max_attempts() < 0 || task.max_attempts() > 100) {
    return Usage(absl::StrCat("max_attempts ", task.max_attempts(), ": 1 to 100, or 0 for 3"));
  }
  COBRA_ASSIGN_OR_RETURN(const store::TaskSubject subject, SubjectFromProto(task, limits));
  store::TaskSpec spec;
  spec.id = task.task_id().empty() ? IdOf(subject, task.target()) : task.task_id();
  spec.target = task.target();
  spec.priority = task.priority();
  spec.origin = task.origin();
  spec.subject_json = store::TaskSubjectToJson(subject);
  spec.max_attempts = task.max_attempts() == 0 ? 3 : task.max_attempts();
  return spec;
}

store::TaskSpec TaskSpecOfGraph(const graph::Graph& graph, absl::string_view target, absl::string_view origin) {
  store::TaskSubject subject;
  subject.what = graph;
  store::TaskSpec spec;
  spec.id = IdOf(subject, target);
  spec.target = std::string(target);
  spec.origin = std::string(origin);
  spec.subject_json = store::TaskSubjectToJson(subject);
  return spec;
}

absl::StatusOr<v1::MeasurementTask> TaskSpecToProto(const store::TaskSpec& spec) {
  v1::MeasurementTask task;
  task.set_task_id(spec.id);
  task.set_target(spec.target);
  task.set_priority(static_cast<int32_t>(spec.priority));
  task.set_origin(spec.origin);
  task.set_max_attempts(static_cast<int32_t>(spec.max_attempts));
  const absl::StatusOr<store::TaskSubject> subject = store::TaskSubjectFromJson(spec.subject_json);
  if (!subject.ok()) return absl::InternalError(absl::StrCat("task ", spec.id, ": ", subject.status().message()));
  task.set_repeat(subject->repeat);
  if (const graph::Graph* graph = subject->graph(); graph != nullptr) {
    proto::GraphToProto(*graph, task.mutable_graph());
    return task;
  }
  const store::SpaceIndex& sample = *subject->sample();
  task.mutable_sample()->set_space(sample.space);
  task.mutable_sample()->set_index(sample.index);
  task.mutable_sample()->set_seed(sample.seed);
  return task;
}

}  // namespace cobra::server
