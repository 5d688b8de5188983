// cobra.v1.Measurements: adaptors between gRPC and the task queue.
#ifndef COBRA_SERVER_QUEUE_MEASUREMENT_SERVICE_H_
#define COBRA_SERVER_QUEUE_MEASUREMENT_SERVICE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cobra/v1/measurements.pb.h"
#include "graph/builder/builder.h"
#include "server/lanes/metrics.h"
#include "server/queue/measurement_task.h"
#include "server/queue/task_watch.h"
#include "server/rpc/unary_calls.h"
#include "server/targets/live_model.h"
#include "store/queue/task_queue.h"

namespace cobra::server {

class MeasurementService final : public UnaryService {
 public:
  // The pointers are not owned and must outlive this object.
  MeasurementService(store::TaskQueue* queue, TaskWatch* watch, const LiveModel* model, Metrics* metrics,
                     const UnaryCalls& calls, const GraphLimits& limits);

 private:
  absl::Status HandleEnqueue(const v1::EnqueueRequest& request, v1::EnqueueResponse* response, const CallContext& call);
  absl::Status HandleLease(const v1::LeaseRequest& request, v1::LeaseResponse* response, const CallContext& call);
  absl::Status HandleRenew(const v1::RenewRequest& request, v1::RenewResponse* response, const CallContext& call);
  absl::Status HandleReport(const v1::ReportRequest& request, v1::ReportResponse* response, const CallContext& call);
  absl::Status HandleCancel(const v1::CancelRequest& request, v1::CancelResponse* response, const CallContext& call);
  absl::Status ReportOne(const std::string& worker, const v1::TaskRecord& record, const CallContext& call,
                         v1::ReportResponse* response);
  void Poison(const std::string& task_id, const absl::Status& why, const CallContext& call);
  absl::Status CheckTargetsOf(const std::vector<std::string>& task_ids, const CallContext& call);

  store::TaskQueue* const queue_;
  TaskWatch* const watch_;
  const LiveModel* const model_;
  Metrics* const metrics_;
  const GraphLimits limits_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_QUEUE_MEASUREMENT_SERVICE_H_
