// What a worker reports, checked before it is stored: against its task, against what a device can
// do, and against the prediction of the serving model.
#ifndef COBRA_SERVER_QUEUE_REPORT_CHECK_H_
#define COBRA_SERVER_QUEUE_REPORT_CHECK_H_

#include "absl/status/statusor.h"
#include "cobra/v1/measurements.pb.h"
#include "server/lanes/call_context.h"
#include "server/targets/live_model.h"
#include "store/queue/task_queue.h"
#include "store/store.h"

namespace cobra::server {

struct CheckedReport {
  // With task_id, measurement, session_json, doubt, and the provenance as far as the model is
  // concerned.
  store::StoredMeasurement stored;
  // The prediction does not extrapolate. False without a prediction.
  bool known = false;
};

// The subject of the result is the task's own: its graph, its name, its repetition. InvalidArgument
// says why a record is refused; DataLoss: the task cannot be read; any other error is the server's.
absl::StatusOr<CheckedReport> CheckReport(const v1::TaskRecord& record, const store::TaskSpec& task,
                                          const ModelSnapshot& model, const CallContext& call);

}  // namespace cobra::server

#endif  // COBRA_SERVER_QUEUE_REPORT_CHECK_H_
