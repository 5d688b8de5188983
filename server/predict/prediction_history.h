// Stored predictions of calls with labels: the adaptor of ListPredictions.
#ifndef COBRA_SERVER_PREDICT_PREDICTION_HISTORY_H_
#define COBRA_SERVER_PREDICT_PREDICTION_HISTORY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "cobra/v1/cobra.pb.h"
#include "server/lanes/call_context.h"
#include "store/store.h"

namespace cobra::server {

class PredictionHistory {
 public:
  // The pointer is not owned and must outlive this object.
  PredictionHistory(store::Store* store, int64_t max_reply_bytes) : store_(store), max_reply_bytes_(max_reply_bytes) {}

  // Fewer than were asked for, if they would have more bytes than a reply may; `has_more` says so.
  absl::Status HandleListPredictions(const v1::ListPredictionsRequest& request, v1::ListPredictionsResponse* response,
                                     const CallContext& call);

 private:
  store::Store* const store_;
  const int64_t max_reply_bytes_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_PREDICT_PREDICTION_HISTORY_H_
