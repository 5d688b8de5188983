// cobra.v1.Measurements: adaptors between gRPC and the task queue.
#ifndef COBRA_SERVER_MEASUREMENT_SERVICE_H_
#define COBRA_SERVER_MEASUREMENT_SERVICE_H_

#include "absl/status/statusor.h"
#include "cobra/v1/measurements.grpc.pb.h"
#include "graph/builder.h"
#include "server/task_watch.h"
#include "server/unary_calls.h"
#include "store/task_queue.h"

namespace cobra {

// Everything in `task` is checked; its graph is built anew. Errors carry a Diagnostic.
absl::StatusOr<TaskSpec> TaskSpecFromProto(const v1::MeasurementTask& task, const GraphLimits& limits);
// The other way, for a worker. `subject_json` is one that TaskSpecFromProto made.
absl::StatusOr<v1::MeasurementTask> TaskSpecToProto(const TaskSpec& spec);

class MeasurementService final : public v1::Measurements::CallbackService {
 public:
  // Neither pointer is owned; both must live longer.
  MeasurementService(TaskQueue* queue, TaskWatch* watch, const UnaryCalls& calls, const GraphLimits& limits)
      : queue_(queue), watch_(watch), calls_(calls), limits_(limits) {}

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
  absl::Status ReportOne(const std::string& worker, const v1::TaskRecord& record, v1::ReportResponse* response);

  TaskQueue* const queue_;
  TaskWatch* const watch_;
  const UnaryCalls calls_;
  const GraphLimits limits_;
};

}  // namespace cobra

#endif  // COBRA_SERVER_MEASUREMENT_SERVICE_H_
