// Tasks of the measurement queue: from the API, from a graph, and back.
#ifndef COBRA_SERVER_QUEUE_MEASUREMENT_TASK_H_
#define COBRA_SERVER_QUEUE_MEASUREMENT_TASK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cobra/v1/measurements.pb.h"
#include "graph/builder/builder.h"
#include "graph/graph.h"
#include "server/access/access.h"
#include "store/queue/task_queue.h"
#include "store/queue/task_subject.h"

namespace cobra::server {

// Limits of one task: no request must keep a worker busy for minutes, or fill its memory. Far above
// the models in use.
struct TaskLimits {
  int64_t max_macs = 200'000'000'000;
  int64_t max_bytes = int64_t{4} << 30;  // peak memory
  int64_t max_calls = 10'000;            // some 3 MB as text, of which a reply has many
  int64_t max_tensors = 100'000;         // inputs, parameters, buffers and constants
  // Parameters and buffers, which a graph's text names: each name is compared with all others. The
  // networks in use have some 3,000.
  int64_t max_weights = 10'000;
  int64_t max_subject_bytes = store::kMaxSubjectBytes;  // of the graph's text
};

// Limits of one Enqueue: what it may make the server check, write and store. A thousand layers have
// some 500 KB; larger sets of networks take several calls.
struct EnqueueLimits {
  int64_t max_request_bytes = int64_t{8} << 20;   // a network of 10,000 calls with its names has some 4 MB
  int64_t max_subject_bytes = int64_t{12} << 20;  // of all tasks' texts: less than a second of processor time
  int64_t max_weights = 10'000;                   // of all tasks
};

// What one caller may have in the queue that has not ended, and all callers together: layers for
// some hours of a device. Without access control all callers are one. An administrator may fill the
// queue beyond what others may. The server's own tasks have a separate limit (--learn).
struct QueueLimits {
  int64_t max_caller_tasks = 20'000;
  int64_t max_caller_bytes = int64_t{64} << 20;  // of the tasks' texts
  int64_t max_tasks = 100'000;
  int64_t max_bytes = int64_t{512} << 20;
};
// The share of the role; null: access control is off.
store::QueueShare QueueShareOf(const Principal* principal, const QueueLimits& limits);
// A Diagnostic if the graph has no call, or exceeds a limit.
absl::Status CheckTaskGraph(const graph::Graph& graph, const TaskLimits& limits);

// Everything in `task` is checked; its graph is rebuilt without names. Errors carry a Diagnostic.
// `left` is what the call may still take; it becomes smaller by what the task takes.
absl::StatusOr<store::TaskSpec> TaskSpecFromProto(const v1::MeasurementTask& task, const GraphLimits& limits,
                                                  EnqueueLimits* left);
// The same task that TaskSpecFromProto makes of the graph, so that both have the same id.
store::TaskSpec TaskSpecOfGraph(const graph::Graph& graph, absl::string_view target, absl::string_view origin);
// For a worker. An error if `spec.subject_json` cannot be read.
absl::StatusOr<v1::MeasurementTask> TaskSpecToProto(const store::TaskSpec& spec);

}  // namespace cobra::server

#endif  // COBRA_SERVER_QUEUE_MEASUREMENT_TASK_H_
