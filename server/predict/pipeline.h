// The prediction of a request, source or graph in, latency out: from what is known
// (known_answers.h), else read and predicted (computation.h). No gRPC in here.
#ifndef COBRA_SERVER_PREDICT_PIPELINE_H_
#define COBRA_SERVER_PREDICT_PIPELINE_H_

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "cobra/v1/cobra.pb.h"
#include "graph/graph.h"
#include "server/lanes/call_context.h"
#include "server/lanes/held_bytes.h"
#include "server/lanes/metrics.h"
#include "server/predict/computation.h"
#include "server/predict/known_answers.h"
#include "server/predict/prediction_log.h"
#include "server/queue/unseen_layers.h"
#include "server/reader/network_reader.h"
#include "server/targets/live_model.h"

namespace cobra::server {

class Pipeline {
 public:
  // The pointers are not owned and must outlive this object. The limits are those of `reader`.
  Pipeline(const CacheSizes& sizes, const LiveModel* model, NetworkReader* reader, PredictionLog* log,
           UnseenLayers* unseen, Metrics* metrics);

  // The reply's bytes, if `call.request` was answered before and nothing has changed since
  // (reply_cache.h). Counts the predictions. `bytes` gives the request's own, for few requests.
  FoundReply FindReply(const CallContext& call, absl::FunctionRef<std::string()> bytes, bool may_wait);
  // The reply to a request whose network and targets were predicted before, under whatever names;
  // nothing if some of it is not known, or the request is not one that this can answer. Takes time
  // in proportion to the graph's bytes.
  std::optional<v1::PredictResponse> PredictKnown(const v1::PredictRequest& request, absl::string_view graph,
                                                  const CallContext& call);
  // `graph`: the bytes of the request's graph, which is then not in `request` (predict_message.h).
  // Moves the texts and files of the model out of `request`, to avoid copies. The reply is
  // remembered under `call.request`.
  absl::StatusOr<v1::PredictResponse> Predict(v1::PredictRequest* request, std::optional<absl::string_view> graph,
                                              const CallContext& call);
  // What Predict() answers to a request with a breakdown, and the network that it is about. A
  // program is read once for each version of PyTorch among its targets.
  struct AnsweredNetwork {
    graph::Graph graph;
    HeldBytes::Part held;  // of the graph
    v1::PredictResponse reply;
  };
  struct AnsweredNetworks {
    std::shared_ptr<const ModelSnapshot> model;  // that has answered
    std::vector<AnsweredNetwork> networks;
  };
  absl::StatusOr<AnsweredNetworks> PredictNetworks(const v1::PredictRequest& request,
                                                   std::optional<absl::string_view> graph, const CallContext& call);
  // Answers with `model`, which does not serve yet, what is asked most, so that its caches know it
  // when it does. Stops at the deadline, and when `stop` is set (may be null).
  void WarmUp(const std::shared_ptr<const ModelSnapshot>& model, absl::Time deadline, const std::atomic<bool>* stop);
  // In the order in which a request asks them.
  const std::vector<KnownAnswers::NamedCache>& caches() const { return caches_; }

 private:
  using Bytes = std::optional<absl::string_view>;
  using Targets = std::vector<std::string>;
  // The answer to a request, on one version of PyTorch or more.
  struct Answer {
    v1::PredictResponse reply;  // without the times
    absl::Duration read, predicted;
    bool was_known = false;  // nothing was read
    // Whether the same request gets the same answer again, as long as the files are unchanged.
    bool repeatable = false;
    FilesUnchanged files_unchanged;
  };
  absl::StatusOr<v1::PredictResponse> PredictWith(const ModelSnapshot& model, v1::PredictRequest* request, Bytes graph,
                                                  const CallContext& call);
  absl::StatusOr<Answer> AnswerOne(const ModelSnapshot& model, v1::PredictRequest* request, Bytes graph,
                                   const CallContext& call);
  // A program of which no version of PyTorch is given is read as for the runtime of each target.
  absl::StatusOr<Answer> AnswerVersions(const ModelSnapshot& model, v1::PredictRequest* request,
                                        const CallContext& call);
  absl::StatusOr<ComputedAnswer> Compute(const NetworkQuestion& question);
  // The targets of a program by the version of PyTorch as which it is read for them; "": as the
  // request says.
  absl::StatusOr<std::map<std::string, Targets>> ByVersion(const ModelSnapshot& model,
                                                           const v1::PredictRequest& request) const;
  absl::Status CheckRequest(const v1::PredictRequest& request, Bytes graph, const ModelSnapshot& model) const;
  // Whether so many predictions of the call are stored with its labels.
  bool RecordsOf(const CallContext& call, size_t rows) const;
  void Record(const v1::PredictResponse& reply, const CallContext& call);

  const LiveModel* const model_;
  NetworkReader* const reader_;
  PredictionLog* const log_;
  Metrics* const metrics_;
  KnownAnswers known_;
  Computation computation_;
  const std::vector<KnownAnswers::NamedCache> caches_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_PREDICT_PIPELINE_H_
