// cobra.v1.Cobra: adaptors between gRPC and the parts that do the work.
#ifndef COBRA_SERVER_SERVICE_H_
#define COBRA_SERVER_SERVICE_H_

#include "cobra/v1/cobra.grpc.pb.h"
#include "server/live_model.h"
#include "server/pipeline.h"
#include "server/unary_calls.h"

namespace cobra {

class CobraService final : public v1::Cobra::CallbackService {
 public:
  // None of the pointers is owned; all must live longer.
  CobraService(Pipeline* pipeline, LiveModel* model, const UnaryCalls& calls) : pipeline_(pipeline), model_(model), calls_(calls) {}

  grpc::ServerUnaryReactor* Predict(grpc::CallbackServerContext* context, const v1::PredictRequest* request,
                                    v1::PredictResponse* response) override;
  grpc::ServerUnaryReactor* ListTargets(grpc::CallbackServerContext* context, const v1::ListTargetsRequest* request,
                                        v1::ListTargetsResponse* response) override;
  grpc::ServerUnaryReactor* GetModelInfo(grpc::CallbackServerContext* context, const v1::GetModelInfoRequest* request,
                                         v1::GetModelInfoResponse* response) override;
  grpc::ServerUnaryReactor* Calibrate(grpc::CallbackServerContext* context, const v1::CalibrateRequest* request,
                                      v1::CalibrateResponse* response) override;

 private:
  Pipeline* const pipeline_;
  LiveModel* const model_;
  UnaryCalls calls_;
};

}  // namespace cobra

#endif  // COBRA_SERVER_SERVICE_H_
