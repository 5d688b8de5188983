// Tasks of the measurement queue: from the API, from a graph, and back.
#ifndef COBRA_SERVER_MEASUREMENT_TASK_H_
#define COBRA_SERVER_MEASUREMENT_TASK_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cobra/v1/measurements.pb.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "store/task_queue.h"

namespace cobra::server {

// Everything in `task` is checked; its graph is rebuilt. Errors carry a Diagnostic.
absl::StatusOr<store::TaskSpec> TaskSpecFromProto(const v1::MeasurementTask& task, const GraphLimits& limits);
// The same task that TaskSpecFromProto makes of the graph, so that both have the same id.
store::TaskSpec TaskSpecOfGraph(const graph::Graph& graph, absl::string_view target, absl::string_view origin);
// For a worker. `spec.subject_json` comes from the functions above.
absl::StatusOr<v1::MeasurementTask> TaskSpecToProto(const store::TaskSpec& spec);

// Checks the name of a target, worker or origin. It is printed, and used as a label of a metric or a part of a file
// name.
absl::Status CheckName(absl::string_view what, absl::string_view name, size_t longest);
bool IsTaskId(absl::string_view id);

}  // namespace cobra::server

#endif  // COBRA_SERVER_MEASUREMENT_TASK_H_
