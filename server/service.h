// cobra.v1.Cobra: adaptors between gRPC and the parts that do the work.
#ifndef COBRA_SERVER_SERVICE_H_
#define COBRA_SERVER_SERVICE_H_

#include "cobra/v1/cobra.grpc.pb.h"
#include "server/adaptation.h"
#include "server/forwarded.h"
#include "server/live_model.h"
#include "server/pipeline.h"
#include "server/predict_batch.h"
#include "server/predict_stream.h"
#include "server/prediction_history.h"
#include "server/raw_service.h"
#include "server/rpcs.h"
#include "server/unary_calls.h"

namespace cobra::server {

class CobraService final : public RawService<v1::Cobra::Service COBRA_RPCS_OF_COBRA(COBRA_RAW_METHOD)>::Type {
 public:
  // The pointers are not owned and must outlive this object.
  CobraService(Pipeline* pipeline, PredictStreams* streams, LiveModel* model, store::Store* store,
               const UnaryCalls& calls)
      : pipeline_(pipeline),
        streams_(streams),
        model_(model),
        calls_(calls),
        adaptation_(pipeline, model),
        history_(store) {}

  grpc::ServerUnaryReactor* Predict(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* response) override {
    if (WantsReport(*context)) {
      return calls_.RunBytes(Rpc::kPredict, context, *request, response, /*shortcut=*/nullptr,
                             [=](const CallContext& call) { return HandleReport(*request, response, call); });
    }
    return calls_.RunBytes(
        Rpc::kPredict, context, *request, response,
        [=](const CallContext& call, bool may_wait) { return FindReply(*request, call, may_wait, response); },
        [=](const CallContext& call) { return HandlePredict(*request, response, call); });
  }
  grpc::ServerUnaryReactor* PredictBatch(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override {
    return calls_.RunShared(
        Rpc::kPredictBatch, context, *request, response,
        std::make_shared<BatchWork>(pipeline_, calls_.replies(), calls_.metrics(), calls_.limits(), request, response));
  }
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* PredictStream(
      grpc::CallbackServerContext* context) override {
    return streams_->Open(context, calls_.access());
  }
  grpc::ServerUnaryReactor* ListTargets(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override {
    return calls_.Run(Rpc::kListTargets, context, request, response, this, &CobraService::HandleListTargets);
  }
  grpc::ServerUnaryReactor* GetModelInfo(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override {
    return calls_.Run(Rpc::kGetModelInfo, context, request, response, this, &CobraService::HandleGetModelInfo);
  }
  grpc::ServerUnaryReactor* Calibrate(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override {
    return calls_.Run(Rpc::kCalibrate, context, request, response, this, &CobraService::HandleCalibrate);
  }
  grpc::ServerUnaryReactor* UndoCalibration(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                            grpc::ByteBuffer* response) override {
    return calls_.Run(Rpc::kUndoCalibration, context, request, response, this, &CobraService::HandleUndoCalibration);
  }
  grpc::ServerUnaryReactor* Adapt(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) override {
    return calls_.Run(Rpc::kAdapt, context, request, response, &adaptation_, &Adaptation::HandleAdapt);
  }
  grpc::ServerUnaryReactor* Observe(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* response) override {
    return calls_.Run(Rpc::kObserve, context, request, response, &adaptation_, &Adaptation::HandleObserve);
  }
  grpc::ServerUnaryReactor* ExportTarget(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override {
    return calls_.Run(Rpc::kExportTarget, context, request, response, &adaptation_, &Adaptation::HandleExportTarget);
  }
  grpc::ServerUnaryReactor* SuggestSamples(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* response) override {
    return calls_.Run(Rpc::kSuggestSamples, context, request, response, &adaptation_,
                      &Adaptation::HandleSuggestSamples);
  }
  grpc::ServerUnaryReactor* ListPredictions(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                            grpc::ByteBuffer* response) override {
    return calls_.Run(Rpc::kListPredictions, context, request, response, &history_,
                      &PredictionHistory::HandleListPredictions);
  }

 private:
  UnaryCalls::Shortcut FindReply(const grpc::ByteBuffer& request, const CallContext& call, bool may_wait,
                                 grpc::ByteBuffer* response) const;
  absl::Status HandlePredict(const grpc::ByteBuffer& request, grpc::ByteBuffer* response, const CallContext& call);
  absl::Status HandleReport(const grpc::ByteBuffer& request, grpc::ByteBuffer* response, const CallContext& call);
  absl::Status HandleListTargets(const v1::ListTargetsRequest& request, v1::ListTargetsResponse* response,
                                 const CallContext& call);
  absl::Status HandleGetModelInfo(const v1::GetModelInfoRequest& request, v1::GetModelInfoResponse* response,
                                  const CallContext& call);
  absl::Status HandleCalibrate(const v1::CalibrateRequest& request, v1::CalibrateResponse* response,
                               const CallContext& call);
  absl::Status HandleUndoCalibration(const v1::UndoCalibrationRequest& request, v1::UndoCalibrationResponse* response,
                                     const CallContext& call);

  Pipeline* const pipeline_;
  PredictStreams* const streams_;
  LiveModel* const model_;
  UnaryCalls calls_;
  Adaptation adaptation_;
  PredictionHistory history_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_SERVICE_H_
