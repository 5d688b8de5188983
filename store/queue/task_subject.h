// What a task of the queue measures, and its only reader and writer for the database (task_queue.h,
// TaskSpec::subject_json) and for a worker's spool (worker/queue/spool.h):
//
//   {"graph": GRAPH, "repeat": 0}     graph/form/json.h, without origins
//   {"sample": {"space": "paper-layers", "index": 17, "seed": 1}, "repeat": 0}
//                                     the worker draws it (worker/sample/sampler.h)
#ifndef COBRA_STORE_QUEUE_TASK_SUBJECT_H_
#define COBRA_STORE_QUEUE_TASK_SUBJECT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"
#include "store/graph_reader.h"
#include "store/subject.h"

namespace cobra::store {

// Of the JSON form of a task's subject: twice what a network of 10,000 calls takes. Whatever is
// stored can be sent to a worker, and its record can be sent back.
constexpr int64_t kMaxSubjectBytes = int64_t{6} << 20;
// Of a record: the subject, a time for each of its calls, and a runner's profile.
constexpr int64_t kMaxRecordBytes = int64_t{8} << 20;

// The identifier of the task that measures it on a target: 32 hexadecimal digits of a SHA-256.
// Equal requests have the same one, and nobody can find another subject that has it.
std::string TaskId(const Subject& subject, absl::string_view target);
// The same, from the text that TaskSubjectToJson() has made of the subject.
std::string TaskIdOfJson(absl::string_view subject_json, absl::string_view target);

// The same calls on the same tensors, without names, aliases and origins: a measurement needs none,
// and a name may be of any length. Two graphs that differ only in names become one task.
absl::StatusOr<graph::Graph> WithoutNames(const graph::Graph& graph);
// At least as many bytes as TaskSubjectToJson() makes of the graph, without making them: a call of
// a few bytes may have thousands of results.
int64_t MostSubjectBytes(const graph::Graph& graph);

// One line.
std::string TaskSubjectToJson(const Subject& subject);
// InvalidArgument, or the Diagnostic of GraphFromJson(), if the text is not a subject. Every shape
// rule runs again.
absl::StatusOr<Subject> TaskSubjectFromJson(absl::string_view text);
// The same; a graph whose text `graphs` has read is not parsed again.
absl::StatusOr<Subject> TaskSubjectFromJson(absl::string_view text, GraphReader* graphs);

}  // namespace cobra::store

#endif  // COBRA_STORE_QUEUE_TASK_SUBJECT_H_
