// Tasks of the measurement queue: from the API, from a graph, and back.
#ifndef COBRA_SERVER_MEASUREMENT_TASK_H_
#define COBRA_SERVER_MEASUREMENT_TASK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cobra/v1/measurements.pb.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "store/task_queue.h"

namespace cobra::server {

// Limits of one task: no request must keep a worker busy for minutes, or fill its memory. Far above the models in use.
struct TaskLimits {
  int64_t max_macs = 200'000'000'000;
  int64_t max_bytes = int64_t{4} << 30;  // peak memory
  int64_t max_calls = 10'000;            // some 3 MB as text, of which a reply has many
  int64_t max_tensors = 100'000;         // inputs, parameters, buffers and constants
};
// A Diagnostic if the graph has no call, or exceeds a limit.
absl::Status CheckTaskGraph(const graph::Graph& graph, const TaskLimits& limits);

// Everything in `task` is checked; its graph is rebuilt. Errors carry a Diagnostic.
absl::StatusOr<store::TaskSpec> TaskSpecFromProto(const v1::MeasurementTask& task, const GraphLimits& limits);
// The same task that TaskSpecFromProto makes of the graph, so that both have the same id.
store::TaskSpec TaskSpecOfGraph(const graph::Graph& graph, absl::string_view target, absl::string_view origin);
// For a worker. An error if `spec.subject_json` cannot be read.
absl::StatusOr<v1::MeasurementTask> TaskSpecToProto(const store::TaskSpec& spec);

// Checks the name of a target, worker or origin. It is printed, and used as a label of a metric or a part of a file
// name.
absl::Status CheckName(absl::string_view what, absl::string_view name, size_t longest);
bool IsTaskId(absl::string_view id);

}  // namespace cobra::server

#endif  // COBRA_SERVER_MEASUREMENT_TASK_H_
