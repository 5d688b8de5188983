// cobra.v1.Measurements: adaptors between gRPC and the task queue.
#ifndef COBRA_SERVER_MEASUREMENT_SERVICE_H_
#define COBRA_SERVER_MEASUREMENT_SERVICE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cobra/v1/measurements.grpc.pb.h"
#include "graph/builder.h"
#include "server/live_model.h"
#include "server/measurement_task.h"
#include "server/metrics.h"
#include "server/raw_service.h"
#include "server/rpcs.h"
#include "server/task_watch.h"
#include "server/unary_calls.h"
#include "store/task_queue.h"

namespace cobra::server {

class MeasurementService final
    : public RawService<v1::Measurements::Service COBRA_RPCS_OF_MEASUREMENTS(COBRA_RAW_METHOD)>::Type {
 public:
  // The pointers are not owned and must outlive this object.
  MeasurementService(store::TaskQueue* queue, TaskWatch* watch, const LiveModel* model, Metrics* metrics,
                     const UnaryCalls& calls, const GraphLimits& limits)
      : queue_(queue), watch_(watch), model_(model), metrics_(metrics), calls_(calls), limits_(limits) {}

  grpc::ServerUnaryReactor* Enqueue(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* response) override {
    return calls_.Run(Rpc::kEnqueue, context, request, response, this, &MeasurementService::HandleEnqueue);
  }
  grpc::ServerUnaryReactor* Lease(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) override {
    return calls_.Run(Rpc::kLease, context, request, response, this, &MeasurementService::HandleLease);
  }
  grpc::ServerUnaryReactor* Renew(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) override {
    return calls_.Run(Rpc::kRenew, context, request, response, this, &MeasurementService::HandleRenew);
  }
  grpc::ServerUnaryReactor* Report(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* response) override {
    return calls_.Run(Rpc::kReport, context, request, response, this, &MeasurementService::HandleReport);
  }
  grpc::ServerUnaryReactor* Cancel(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* response) override {
    return calls_.Run(Rpc::kCancel, context, request, response, this, &MeasurementService::HandleCancel);
  }
  grpc::ServerWriteReactor<grpc::ByteBuffer>* Watch(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request) override;

 private:
  absl::Status HandleEnqueue(const v1::EnqueueRequest& request, v1::EnqueueResponse* response, const CallContext& call);
  absl::Status HandleLease(const v1::LeaseRequest& request, v1::LeaseResponse* response, const CallContext& call);
  absl::Status HandleRenew(const v1::RenewRequest& request, v1::RenewResponse* response, const CallContext& call);
  absl::Status HandleReport(const v1::ReportRequest& request, v1::ReportResponse* response, const CallContext& call);
  absl::Status HandleCancel(const v1::CancelRequest& request, v1::CancelResponse* response, const CallContext& call);
  absl::Status ReportOne(const std::string& worker, const v1::TaskRecord& record, const CallContext& call,
                         v1::ReportResponse* response);
  absl::Status CheckTargetsOf(const std::vector<std::string>& task_ids, const CallContext& call);

  store::TaskQueue* const queue_;
  TaskWatch* const watch_;
  const LiveModel* const model_;
  Metrics* const metrics_;
  const UnaryCalls calls_;
  const GraphLimits limits_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_MEASUREMENT_SERVICE_H_
