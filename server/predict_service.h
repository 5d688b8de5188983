// cobra.v1.Cobra: adaptors between gRPC and the parts that do the work.
#ifndef COBRA_SERVER_PREDICT_SERVICE_H_
#define COBRA_SERVER_PREDICT_SERVICE_H_

#include "cobra/v1/cobra.pb.h"
#include "server/lanes/rpcs.h"
#include "server/predict/pipeline.h"
#include "server/predict/predict_batch.h"
#include "server/predict/predict_stream.h"
#include "server/predict/prediction_history.h"
#include "server/reader/network_reader.h"
#include "server/rpc/unary_calls.h"
#include "server/targets/adaptation.h"
#include "server/targets/live_model.h"

namespace cobra::server {

class CobraService final : public UnaryService {
 public:
  // The pointers are not owned and must outlive this object.
  CobraService(NetworkReader* reader, Pipeline* pipeline, PredictStreams* streams, LiveModel* model,
               store::Store* store, const UnaryCalls& calls);

 private:
  BytesReactor* Predict(grpc::CallbackServerContext* context) const;
  UnaryCalls::Shortcut FindReply(const grpc::ByteBuffer& request, const CallContext& call, bool may_wait,
                                 grpc::ByteBuffer* response) const;
  absl::Status HandlePredict(const grpc::ByteBuffer& request, grpc::ByteBuffer* response,
                             const CallContext& call) const;
  absl::Status HandleReport(const grpc::ByteBuffer& request, grpc::ByteBuffer* response, const CallContext& call) const;
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
  Adaptation adaptation_;
  PredictionHistory history_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_PREDICT_SERVICE_H_
