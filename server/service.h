// cobra.v1.Cobra: adaptors between gRPC and the parts that do the work.
#ifndef COBRA_SERVER_SERVICE_H_
#define COBRA_SERVER_SERVICE_H_

#include <functional>

#include "absl/status/status.h"
#include "cobra/v1/cobra.grpc.pb.h"
#include "server/live_model.h"
#include "server/metrics.h"
#include "server/pipeline.h"
#include "server/worker_pool.h"

namespace cobra {

class CobraService final : public v1::Cobra::CallbackService {
 public:
  // None of the pointers is owned; all must live longer.
  CobraService(Pipeline* pipeline, LiveModel* model, WorkerPool* pool, Metrics* metrics,
               absl::Duration default_deadline)
      : pipeline_(pipeline), model_(model), pool_(pool), metrics_(metrics), default_deadline_(default_deadline) {}

  grpc::ServerUnaryReactor* Predict(grpc::CallbackServerContext* context, const v1::PredictRequest* request,
                                    v1::PredictResponse* response) override;
  grpc::ServerUnaryReactor* ListTargets(grpc::CallbackServerContext* context, const v1::ListTargetsRequest* request,
                                        v1::ListTargetsResponse* response) override;
  grpc::ServerUnaryReactor* GetModelInfo(grpc::CallbackServerContext* context, const v1::GetModelInfoRequest* request,
                                         v1::GetModelInfoResponse* response) override;
  grpc::ServerUnaryReactor* Calibrate(grpc::CallbackServerContext* context, const v1::CalibrateRequest* request,
                                      v1::CalibrateResponse* response) override;

 private:
  // Runs `work` on the pool; its status is the call's. `method` is a literal.
  grpc::ServerUnaryReactor* Run(const char* method, grpc::CallbackServerContext* context,
                                std::function<absl::Status(const CallContext&)> work);

  Pipeline* const pipeline_;
  LiveModel* const model_;
  WorkerPool* const pool_;
  Metrics* const metrics_;
  const absl::Duration default_deadline_;
};

}  // namespace cobra

#endif  // COBRA_SERVER_SERVICE_H_
