// The prediction of a request: source or graph in, latency out. No gRPC in here.
#ifndef COBRA_SERVER_PIPELINE_H_
#define COBRA_SERVER_PIPELINE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/limits.h"
#include "cobra/v1/cobra.pb.h"
#include "model/predict/lru_cache.h"
#include "model/predict/predictor.h"
#include "server/call_context.h"
#include "server/limits.h"
#include "server/live_model.h"
#include "server/metrics.h"
#include "server/prediction_log.h"
#include "server/reader_processes.h"
#include "server/unseen_layers.h"

namespace cobra::server {

struct PipelineOptions {
  ServerLimits limits;
  // About 90,000 networks on one target each.
  int64_t prediction_cache_bytes = int64_t{32} << 20;
};

class Pipeline {
 public:
  // The pointers are not owned and must outlive this object.
  Pipeline(PipelineOptions options, const LiveModel* model, ReaderProcesses* readers, PredictionLog* log,
           UnseenLayers* unseen, Metrics* metrics);

  // Moves the texts and files of the model out of `request`, to avoid copies.
  absl::StatusOr<v1::PredictResponse> Predict(v1::PredictRequest* request, const CallContext& call);

 private:
  absl::Status CheckRequest(const v1::PredictRequest& request, const ModelSnapshot& model) const;
  absl::StatusOr<graph::Graph> ReadModel(v1::PredictRequest* request, const CallContext& call);
  absl::StatusOr<graph::Graph> ReadWithin(const Limits& limits, v1::PredictRequest* request, const CallContext& call);
  // A network that was read, and what the request says about it.
  struct Question {
    const ModelSnapshot& model;
    const graph::Graph& graph;
    std::string fingerprint;
    bool keep_private = false;
    const CallContext& call;
  };
  absl::StatusOr<predict::LatencyPrediction> Compute(const Question& question, const std::string& target);
  absl::Status PredictCalls(const Question& question, const std::vector<std::string>& targets,
                            v1::PredictResponse* reply);
  absl::Status PredictTotals(const Question& question, const std::vector<std::string>& targets,
                             v1::PredictResponse* reply);

  const PipelineOptions options_;
  const LiveModel* const model_;
  ReaderProcesses* const readers_;
  PredictionLog* const log_;
  UnseenLayers* const unseen_;
  Metrics* const metrics_;
  // (graph, snapshot, target) -> totals.
  predict::LruCache<predict::PredictionTotals> cache_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_PIPELINE_H_
