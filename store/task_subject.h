// What a task of the queue measures, and its only reader and writer for the database (task_queue.h,
// TaskSpec::subject_json) and for a worker's spool (worker/spool.h):
//
//   {"graph": GRAPH, "repeat": 0}                                               graph/json.h, without origins
//   {"sample": {"space": "paper-layers", "index": 17, "seed": 1}, "repeat": 0}  the worker draws it (worker/sampler.h)
#ifndef COBRA_STORE_TASK_SUBJECT_H_
#define COBRA_STORE_TASK_SUBJECT_H_

#include <cstdint>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"

namespace cobra::store {

struct SpaceIndex {
  std::string space;
  int64_t index = 0;
  uint64_t seed = 0;
};

struct TaskSubject {
  std::variant<graph::Graph, SpaceIndex> what;
  // Distinguishes repetitions of one measurement.
  int repeat = 0;

  const graph::Graph* graph() const { return std::get_if<graph::Graph>(&what); }  // null: it is a sample
  const SpaceIndex* sample() const { return std::get_if<SpaceIndex>(&what); }
};

// The identifier of the task that measures it on a target: 32 hexadecimal digits of a SHA-256. Equal requests have the
// same one, and nobody can find another subject that has it.
std::string TaskId(const TaskSubject& subject, absl::string_view target);

// One line.
std::string TaskSubjectToJson(const TaskSubject& subject);
// InvalidArgument, or the Diagnostic of GraphFromJson(), if the text is not a subject. Every shape rule runs again.
absl::StatusOr<TaskSubject> TaskSubjectFromJson(absl::string_view text);

}  // namespace cobra::store

#endif  // COBRA_STORE_TASK_SUBJECT_H_
