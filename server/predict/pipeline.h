// The prediction of a request: source or graph in, latency out. No gRPC in here.
#ifndef COBRA_SERVER_PREDICT_PIPELINE_H_
#define COBRA_SERVER_PREDICT_PIPELINE_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock_cache.h"
#include "base/hash.h"
#include "base/limits.h"
#include "cobra/v1/cobra.pb.h"
#include "model/predict/predictor.h"
#include "server/lanes/call_context.h"
#include "server/lanes/held_bytes.h"
#include "server/lanes/limits.h"
#include "server/lanes/metrics.h"
#include "server/predict/hot_requests.h"
#include "server/predict/prediction_log.h"
#include "server/predict/reply_cache.h"
#include "server/predict/single_flight.h"
#include "server/queue/unseen_layers.h"
#include "server/reader/reader_processes.h"
#include "server/targets/live_model.h"

namespace cobra::server {

struct PipelineOptions {
  ServerLimits limits;
  // About 90,000 networks on one target each.
  int64_t prediction_cache_bytes = int64_t{32} << 20;
  int64_t network_cache_bytes = int64_t{32} << 20;  // about 60,000 networks
  // About 60,000 requests for one target each.
  int64_t reply_cache_bytes = int64_t{32} << 20;
};

class Pipeline {
 public:
  // The pointers are not owned and must outlive this object.
  Pipeline(PipelineOptions options, const LiveModel* model, ReaderProcesses* readers, PredictionLog* log,
           UnseenLayers* unseen, Metrics* metrics);

  // The reply's bytes, if `call.request` was answered before and nothing has changed since; else
  // null (reply_cache.h). Counts the predictions. `bytes` gives the request's own, for few
  // requests.
  std::shared_ptr<const CachedReply> FindReply(const CallContext& call, absl::FunctionRef<std::string()> bytes,
                                               bool may_wait, bool* must_wait);
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
  // The graph of a network that a request names, read and checked as for Predict(). Moves what it
  // needs out of `request`; source without a version of PyTorch is read as for `runtime`.
  absl::StatusOr<graph::Graph> ReadNetwork(v1::PredictRequest* request, absl::string_view runtime,
                                           const CallContext& call);
  // A graph that is worked on counts to the caller as long as the part is kept. ResourceExhausted
  // if too much does.
  absl::StatusOr<HeldBytes::Part> HoldGraph(const graph::Graph& graph, const CallContext& call);
  absl::StatusOr<HeldBytes::Part> HoldGraphBytes(int64_t bytes, const CallContext& call);
  const ServerLimits& limits() const { return options_.limits; }
  // Answers with `model`, which does not serve yet, what is asked most, so that its caches know it
  // when it does. Stops at the deadline, and when `stop` is set (may be null).
  void WarmUp(const std::shared_ptr<const ModelSnapshot>& model, absl::Time deadline, const std::atomic<bool>* stop);
  // In the order in which a request asks them.
  struct NamedCache {
    absl::string_view name;
    std::function<CacheStats()> stats;
    std::function<void()> flush;
  };
  const std::vector<NamedCache>& caches() const { return named_caches_; }

 private:
  using Bytes = std::optional<absl::string_view>;
  using Targets = std::vector<std::string>;
  absl::StatusOr<v1::PredictResponse> PredictWith(const ModelSnapshot& model, v1::PredictRequest* request, Bytes graph,
                                                  const CallContext& call);
  // Whether an answer that was put together from parts may be given again, and while which files
  // are unchanged.
  struct Repeatable {
    void Add(const ReadResult& part) {
      is_repeatable = is_repeatable && part.repeatable;
      files_unchanged.push_back(part.files_unchanged);
    }
    bool is_repeatable = true;
    std::vector<FilesUnchanged> files_unchanged;
  };
  absl::StatusOr<v1::PredictResponse> PredictOn(const ModelSnapshot& model, v1::PredictRequest* request, Bytes graph,
                                                const CallContext& call, Repeatable* repeatable = nullptr,
                                                graph::Graph* network_graph = nullptr);
  // A program of which no version of PyTorch is given is read as for the runtime of each target.
  absl::StatusOr<v1::PredictResponse> PredictVersions(const ModelSnapshot& model, v1::PredictRequest* request,
                                                      const CallContext& call);
  // The targets of a program by the version of PyTorch as which it is read for them; "": as the
  // request says.
  absl::StatusOr<std::map<std::string, Targets>> ByVersion(const ModelSnapshot& model,
                                                           const v1::PredictRequest& request) const;
  absl::Status CheckRequest(const v1::PredictRequest& request, Bytes graph, const ModelSnapshot& model) const;
  absl::StatusOr<ReadResult> ReadModel(v1::PredictRequest* request, Bytes graph, const CallContext& call);
  absl::StatusOr<ReadResult> ReadWithin(const Limits& limits, v1::PredictRequest* request, Bytes graph,
                                        const CallContext& call);
  void RememberReply(const Hash128& request, const ModelSnapshot& model, const FilesUnchanged& files_unchanged,
                     const v1::PredictResponse& reply);
  // What a reply says of a network, whatever the target.
  struct Network {
    Hash128 exact;  // keyed, of graph/exact_bytes.h
    std::string fingerprint;
    int node_count = 0;
    int64_t parameter_count = 0, macs = 0, flops = 0, peak_memory_bytes = 0;
    bool is_float32 = true;  // all of its parameters
  };
  // The prediction for a network on a target, without its calls.
  struct KnownTotals {
    predict::PredictionTotals totals;
    int64_t peak_memory_bytes = 0;  // TargetPrediction's
    PredictionCounters counters;    // for when it is answered again
  };
  // A network that was read, and what the request says about it.
  struct Question {
    const ModelSnapshot& model;
    const graph::Graph& graph;
    const Network& network;
    bool keep_private = false;
    const CallContext& call;
  };
  static absl::StatusOr<Network> DescribeNetwork(const graph::Graph& graph, const Hash128& exact,
                                                 const CallContext& call);
  // The network of a graph that was read; from its cache, where it stays.
  absl::StatusOr<std::shared_ptr<const Network>> NetworkOf(const graph::Graph& graph, const Hash128& exact,
                                                           const CallContext& call);
  std::shared_ptr<const Network> RememberNetwork(const Hash128& key, Network network);
  static void FillNetwork(const Network& network, v1::PredictResponse* reply);
  static int64_t PeakMemoryBytesOn(const Question& question, const std::string& target);
  static Hash128 KeyOfTotals(const Network& network, const ModelSnapshot& model, absl::string_view target);
  // The whole reply without reading the graph; false if some of it is not known.
  bool AnswerKnown(const Hash128& network_hash, const ModelSnapshot& model, const Targets& targets,
                   const CallContext& call, v1::PredictResponse* reply);
  void RecordLabelled(const v1::PredictResponse& reply, const CallContext& call);
  absl::StatusOr<std::shared_ptr<const KnownTotals>> TotalsOf(const Question& question, const std::string& target);
  absl::StatusOr<std::shared_ptr<const KnownTotals>> ComputeTotals(const Question& question, const std::string& target,
                                                                   const Hash128& key);
  absl::StatusOr<predict::LatencyPrediction> Compute(const Question& question, const std::string& target);
  absl::Status PredictCalls(const Question& question, const Targets& targets, v1::PredictResponse* reply);
  absl::Status PredictTotals(const Question& question, const Targets& targets, v1::PredictResponse* reply);

  const PipelineOptions options_;
  const LiveModel* const model_;
  ReaderProcesses* const readers_;
  PredictionLog* const log_;
  UnseenLayers* const unseen_;
  Metrics* const metrics_;
  // By Network::exact (of an architecture string: of its text), and by the hash of the bytes of
  // graphs as they came (proto/network_hash.h).
  ClockCache<Network> networks_;
  // (graph, snapshot, target) -> totals.
  ClockCache<KnownTotals> cache_;
  ReplyCache replies_;
  SingleFlight computing_;  // by KeyOfTotals()
  HotRequests hot_;
  HeldBytes graphs_;
  const std::vector<NamedCache> named_caches_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_PREDICT_PIPELINE_H_
