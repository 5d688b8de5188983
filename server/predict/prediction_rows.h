// A prediction as it is in a reply, and how many bytes it takes there.
#ifndef COBRA_SERVER_PREDICT_PREDICTION_ROWS_H_
#define COBRA_SERVER_PREDICT_PREDICTION_ROWS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "cobra/v1/cobra.pb.h"
#include "graph/graph.h"
#include "model/predict/predictor.h"

namespace cobra::server {

absl::Status CheckPredictReplyBytes(int64_t bytes, int64_t most);
// Of a breakdown's rows for one target, without the reasons: at most this many bytes in the reply.
int64_t BreakdownRowBytes(const graph::Graph& graph);
int64_t BreakdownReasonBytes(const predict::LatencyPrediction& prediction);

void FillTargetPrediction(const std::string& target, const predict::PredictionTotals& prediction,
                          int64_t peak_memory_bytes, v1::TargetPrediction* out);
void FillBreakdown(const graph::Graph& graph, const predict::LatencyPrediction& prediction, v1::TargetPrediction* out);

}  // namespace cobra::server

#endif  // COBRA_SERVER_PREDICT_PREDICTION_ROWS_H_
