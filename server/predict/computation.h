// What nobody knows yet: a network is read, and its latency predicted.
#ifndef COBRA_SERVER_PREDICT_COMPUTATION_H_
#define COBRA_SERVER_PREDICT_COMPUTATION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/bytes/hash.h"
#include "cobra/v1/cobra.pb.h"
#include "graph/graph.h"
#include "model/predict/predictor.h"
#include "server/lanes/call_context.h"
#include "server/lanes/held_bytes.h"
#include "server/lanes/metrics.h"
#include "server/predict/known_answers.h"
#include "server/predict/prediction_log.h"
#include "server/queue/unseen_layers.h"
#include "server/reader/network_reader.h"
#include "server/reader/reader_processes.h"
#include "server/targets/live_model.h"

namespace cobra::server {

// A request for some targets, checked.
struct NetworkQuestion {
  const ModelSnapshot& model;
  v1::PredictRequest* request;              // its model is moved out of it
  std::optional<absl::string_view> graph;   // the bytes of the graph that is not in `request`
  std::optional<Hash128> architecture_key;  // under which an architecture string's network is known
  const std::vector<std::string>& targets;  // each once
  const CallContext& call;
};

struct ComputedAnswer {
  v1::PredictResponse reply;  // without the times
  std::shared_ptr<const NetworkSummary> network;
  graph::Graph graph;
  HeldBytes::Part held;            // of the graph
  bool repeatable = false;         // ReadResult's
  FilesUnchanged files_unchanged;  // ReadResult's
  absl::Duration read, predicted;  // how long both took
};

class Computation {
 public:
  // The pointers are not owned and must outlive this object. `known` may know parts of an answer,
  // and gets to know what is computed. `unseen` may be null if all requests are private.
  Computation(NetworkReader* reader, KnownAnswers* known, PredictionLog* log, UnseenLayers* unseen, Metrics* metrics)
      : reader_(reader), known_(known), log_(log), unseen_(unseen), metrics_(metrics) {}

  absl::StatusOr<ComputedAnswer> ReadAndPredict(const NetworkQuestion& question);

 private:
  // A network that was read, and what the request says about it.
  struct ReadNetwork {
    const ModelSnapshot& model;
    const graph::Graph& graph;
    const NetworkSummary& network;
    const std::vector<std::string>& targets;
    bool keep_private = false;
    NetworkParts wanted;
    const CallContext& call;
  };
  // From its cache, where it stays.
  absl::StatusOr<std::shared_ptr<const NetworkSummary>> SummaryOf(const graph::Graph& graph, const Hash128& exact,
                                                                  NetworkParts wanted, const CallContext& call);
  absl::StatusOr<predict::LatencyPrediction> Predict(const ReadNetwork& read, const std::string& target);
  absl::StatusOr<KnownTotals> ComputeTotals(const ReadNetwork& read, const std::string& target);
  KnownTotals TotalsOf(const ReadNetwork& read, const std::string& target,
                       const predict::PredictionTotals& totals) const;
  absl::Status PredictCalls(const ReadNetwork& read, v1::PredictResponse* reply);
  absl::Status PredictTotals(const ReadNetwork& read, v1::PredictResponse* reply);

  NetworkReader* const reader_;
  KnownAnswers* const known_;
  PredictionLog* const log_;
  UnseenLayers* const unseen_;
  Metrics* const metrics_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_PREDICT_COMPUTATION_H_
