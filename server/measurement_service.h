// cobra.v1.Measurements: adaptors between gRPC and the task queue.
#ifndef COBRA_SERVER_MEASUREMENT_SERVICE_H_
#define COBRA_SERVER_MEASUREMENT_SERVICE_H_

#include <string>

#include "absl/status/status.h"
#include "cobra/v1/measurements.grpc.pb.h"
#include "graph/builder.h"
#include "server/live_model.h"
#include "server/measurement_task.h"
#include "server/metrics.h"
#include "server/task_watch.h"
#include "server/unary_calls.h"
#include "store/task_queue.h"

namespace cobra {

class MeasurementService final : public v1::Measurements::CallbackService {
 public:
  // None of the pointers is owned; all must live longer.
  MeasurementService(TaskQueue* queue, TaskWatch* watch, const LiveModel* model, Metrics* metrics, const UnaryCalls& calls,
                     const GraphLimits& limits)
      : queue_(queue), watch_(watch), model_(model), metrics_(metrics), calls_(calls), limits_(limits) {}

  grpc::ServerUnaryReactor* Enqueue(grpc::CallbackServerContext* context, const v1::EnqueueRequest* request,
                                    v1::EnqueueResponse* response) override;
  grpc::ServerUnaryReactor* Lease(grpc::CallbackServerContext* context, const v1::LeaseRequest* request, v1::LeaseResponse* response) override;
  grpc::ServerUnaryReactor* Renew(grpc::CallbackServerContext* context, const v1::RenewRequest* request, v1::RenewResponse* response) override;
  grpc::ServerUnaryReactor* Report(grpc::CallbackServerContext* context, const v1::ReportRequest* request,
                                   v1::ReportResponse* response) override;
  grpc::ServerUnaryReactor* Cancel(grpc::CallbackServerContext* context, const v1::CancelRequest* request,
                                   v1::CancelResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchResponse>* Watch(grpc::CallbackServerContext* context, const v1::WatchRequest* request) override;

 private:
  void CompareWithPrediction(const MeasurementRecord& record);
  absl::Status ReportOne(const std::string& worker, const v1::TaskRecord& record, v1::ReportResponse* response);

  TaskQueue* const queue_;
  TaskWatch* const watch_;
  const LiveModel* const model_;
  Metrics* const metrics_;
  const UnaryCalls calls_;
  const GraphLimits limits_;
};

}  // namespace cobra

#endif  // COBRA_SERVER_MEASUREMENT_SERVICE_H_
