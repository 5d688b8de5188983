// Stored predictions of calls with labels: the adaptor of ListPredictions.
#ifndef COBRA_SERVER_PREDICTION_HISTORY_H_
#define COBRA_SERVER_PREDICTION_HISTORY_H_

#include "absl/status/status.h"
#include "cobra/v1/cobra.pb.h"
#include "server/call_context.h"
#include "store/store.h"

namespace cobra::server {

class PredictionHistory {
 public:
  // The pointer is not owned and must outlive this object.
  explicit PredictionHistory(store::Store* store) : store_(store) {}

  absl::Status HandleListPredictions(const v1::ListPredictionsRequest& request, v1::ListPredictionsResponse* response,
                                     const CallContext& call);

 private:
  store::Store* const store_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_PREDICTION_HISTORY_H_
