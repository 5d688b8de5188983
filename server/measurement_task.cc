#include "server/measurement_task.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/hash.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "graph/fingerprint.h"
#include "graph/json.h"
#include "nlohmann/json.hpp"
#include "proto/graph_proto.h"

namespace cobra {
namespace {

using Json = nlohmann::ordered_json;

absl::Status Usage(std::string message, std::string hint = "") { return UserError(Diagnostic::Kind::kUsage, std::move(message), std::move(hint)); }

struct Subject {
  Json json;
  Hash128 hash;
};

Subject SubjectOf(const Graph& graph, int repeat) {
  Subject subject;
  subject.json["graph"] = Json::parse(GraphToJson(graph, {/*origins=*/false}));
  subject.json["repeat"] = repeat;
  subject.hash = Fingerprint(graph);
  return subject;
}

absl::StatusOr<Subject> SubjectOf(const v1::MeasurementTask& task, const GraphLimits& limits) {
  Subject subject;
  switch (task.subject_case()) {
    case v1::MeasurementTask::kGraph: {
      COBRA_ASSIGN_OR_RETURN(const Graph graph, GraphFromProto(task.graph(), limits));
      return SubjectOf(graph, task.repeat());
    }
    case v1::MeasurementTask::kSample: {
      const v1::SpaceSample& sample = task.sample();
      COBRA_RETURN_IF_ERROR(CheckName("sample.space", sample.space(), 64));
      if (sample.index() < 0) return Usage(absl::StrCat("sample.index ", sample.index(), ": counts from 0"));
      subject.json["sample"] = {{"space", sample.space()}, {"index", sample.index()}, {"seed", sample.seed()}};
      subject.hash = HashBytes(subject.json.dump());
      break;
    }
    case v1::MeasurementTask::SUBJECT_NOT_SET: return Usage("subject: neither graph nor sample is given");
  }
  subject.json["repeat"] = task.repeat();
  return subject;
}

// The same question has the same id, whoever asks it.
std::string IdOf(Hash128 subject, absl::string_view target, int repeat) {
  return HashCombine(HashCombine(subject, HashBytes(target)), static_cast<uint64_t>(repeat)).ToHex();
}

}  // namespace

// What is printed, becomes a label of a metric, or part of a file name.
absl::Status CheckName(absl::string_view what, absl::string_view name, size_t longest) {
  for (const char c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') {
      return Usage(absl::StrCat(what, " \"", name, "\": may have letters, digits, '-', '_' and '.' only"));
    }
  }
  if (name.empty()) return Usage(absl::StrCat(what, ": is empty"));
  if (name.size() > longest) return Usage(absl::StrCat(what, ": has more than ", longest, " letters"));
  return absl::OkStatus();
}

bool IsTaskId(absl::string_view id) {
  if (id.size() != 32) return false;
  for (const char c : id) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c)) && !(c >= 'a' && c <= 'f')) return false;
  }
  return true;
}

absl::StatusOr<TaskSpec> TaskSpecFromProto(const v1::MeasurementTask& task, const GraphLimits& limits) {
  COBRA_RETURN_IF_ERROR(CheckName("target", task.target(), 200));
  if (!task.origin().empty()) COBRA_RETURN_IF_ERROR(CheckName("origin", task.origin(), 64));
  if (!task.task_id().empty() && !IsTaskId(task.task_id())) {
    return Usage(absl::StrCat("\"", task.task_id().substr(0, 64), "\": a task_id has 32 digits, 0 to 9 and a to f"));
  }
  if (task.max_attempts() < 0 || task.max_attempts() > 100) {
    return Usage(absl::StrCat("max_attempts ", task.max_attempts(), ": 1 to 100, or 0 for 3"));
  }
  COBRA_ASSIGN_OR_RETURN(const Subject subject, SubjectOf(task, limits));
  TaskSpec spec;
  spec.id = task.task_id().empty() ? IdOf(subject.hash, task.target(), task.repeat()) : task.task_id();
  spec.target = task.target();
  spec.priority = task.priority();
  spec.origin = task.origin();
  spec.subject_json = subject.json.dump();
  spec.max_attempts = task.max_attempts() == 0 ? 3 : task.max_attempts();
  return spec;
}

TaskSpec TaskSpecOfGraph(const Graph& graph, absl::string_view target, absl::string_view origin) {
  const Subject subject = SubjectOf(graph, /*repeat=*/0);
  TaskSpec spec;
  spec.id = IdOf(subject.hash, target, 0);
  spec.target = std::string(target);
  spec.origin = std::string(origin);
  spec.subject_json = subject.json.dump();
  return spec;
}

absl::StatusOr<v1::MeasurementTask> TaskSpecToProto(const TaskSpec& spec) {
  v1::MeasurementTask task;
  task.set_task_id(spec.id);
  task.set_target(spec.target);
  task.set_priority(static_cast<int32_t>(spec.priority));
  task.set_origin(spec.origin);
  task.set_max_attempts(static_cast<int32_t>(spec.max_attempts));
  const Json json = Json::parse(spec.subject_json, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::InternalError(absl::StrCat("task ", spec.id, ": its subject is no JSON object"));
  task.set_repeat(json.value("repeat", 0));
  if (json.contains("graph")) {
    COBRA_ASSIGN_OR_RETURN(const Graph graph, GraphFromJson(json["graph"].dump()));
    GraphToProto(graph, task.mutable_graph());
    return task;
  }
  const Json sample = json.value("sample", Json::object());
  task.mutable_sample()->set_space(sample.value("space", ""));
  task.mutable_sample()->set_index(sample.value("index", int64_t{0}));
  task.mutable_sample()->set_seed(sample.value("seed", uint64_t{0}));
  return task;
}

}  // namespace cobra
