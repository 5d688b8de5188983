// cobra.v1.Cobra: adaptors between gRPC and the parts that do the work.
#ifndef COBRA_SERVER_SERVICE_H_
#define COBRA_SERVER_SERVICE_H_

#include "cobra/v1/cobra.grpc.pb.h"
#include "server/live_model.h"
#include "server/pipeline.h"
#include "server/unary_calls.h"

namespace cobra::server {

// Methods are raw: the bytes are looked at before they are parsed (message_bytes.h).
using RawCobra = v1::Cobra::WithRawCallbackMethod_Predict<v1::Cobra::WithRawCallbackMethod_ListTargets<
    v1::Cobra::WithRawCallbackMethod_GetModelInfo<v1::Cobra::WithRawCallbackMethod_Calibrate<v1::Cobra::Service>>>>;

class CobraService final : public RawCobra {
 public:
  // None of the pointers is owned; all must live longer.
  CobraService(Pipeline* pipeline, LiveModel* model, const UnaryCalls& calls)
      : pipeline_(pipeline), model_(model), calls_(calls) {}

  grpc::ServerUnaryReactor* Predict(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* response) override {
    return calls_.Run("Predict", context, request, response, this, &CobraService::HandlePredict);
  }
  grpc::ServerUnaryReactor* ListTargets(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override {
    return calls_.Run("ListTargets", context, request, response, this, &CobraService::HandleListTargets);
  }
  grpc::ServerUnaryReactor* GetModelInfo(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override {
    return calls_.Run("GetModelInfo", context, request, response, this, &CobraService::HandleGetModelInfo);
  }
  grpc::ServerUnaryReactor* Calibrate(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override {
    return calls_.Run("Calibrate", context, request, response, this, &CobraService::HandleCalibrate);
  }

 private:
  absl::Status HandlePredict(const v1::PredictRequest& request, v1::PredictResponse* response, const CallContext& call);
  absl::Status HandleListTargets(const v1::ListTargetsRequest& request, v1::ListTargetsResponse* response,
                                 const CallContext& call);
  absl::Status HandleGetModelInfo(const v1::GetModelInfoRequest& request, v1::GetModelInfoResponse* response,
                                  const CallContext& call);
  absl::Status HandleCalibrate(const v1::CalibrateRequest& request, v1::CalibrateResponse* response,
                               const CallContext& call);

  Pipeline* const pipeline_;
  LiveModel* const model_;
  UnaryCalls calls_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_SERVICE_H_
