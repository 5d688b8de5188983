// The metrics that Prometheus reads from /metrics. All families exist from the start, so that a
// dashboard shows zero instead of nothing, and an invalid name fails at start. Names contain their
// unit.
#ifndef COBRA_SERVER_LANES_METRICS_H_
#define COBRA_SERVER_LANES_METRICS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/diagnostic.h"
#include "model/predict/predictor.h"
#include "prometheus/collectable.h"
#include "prometheus/counter.h"
#include "prometheus/histogram.h"
#include "prometheus/registry.h"
#include "server/lanes/rpcs.h"

namespace cobra::server {

// Counters of the predictions for one target that a cache answered; owned by Metrics, null without
// one.
struct PredictionCounters {
  prometheus::Counter* from_cache = nullptr;
  prometheus::Counter* extrapolating = nullptr;  // null: the prediction does not
};

// What became of a measurement that a worker reported, as the API says it.
enum class ReportLabel { kAccepted, kDuplicate, kUnknownTask, kInvalid, kNotLeased, kHeld };

class Metrics {
 public:
  Metrics();

  // Of the API, since the start.
  struct Requests {
    int64_t began = 0, done = 0;
  };
  Requests requests() const { return {requests_began_.load(), requests_done_.load()}; }

  // Unary requests and their replies count as messages by themselves.
  void RequestBegan(Rpc rpc);
  void RequestDone(Rpc rpc, absl::StatusCode code, absl::Duration duration);
  void MessageReceived(Rpc rpc);
  void MessageSent(Rpc rpc);
  void ItemFailed(Rpc rpc, absl::StatusCode code);                   // of a batch or a stream
  void PhaseDone(absl::string_view phase, absl::Duration duration);  // "read", "predict"
  void ReaderFailed(Diagnostic::Kind kind);
  void ReaderDied(absl::string_view cause);  // "memory", "processor_time", "crash"
  void Predicted(absl::string_view target, bool from_cache, bool extrapolating);
  // For predictions that are counted often: looking a counter up costs more than counting.
  PredictionCounters CountersOf(absl::string_view target, bool extrapolating);
  // `known`: the model did not extrapolate. Errors of extrapolated predictions are not a
  // sign of drift.
  void Measured(absl::string_view target, absl::string_view layer_type, bool known, double measured_over_predicted);
  void TasksRequested(int64_t enqueued, int64_t dropped);
  void Reported(ReportLabel outcome);
  void StoreWritten(absl::string_view table, bool ok, int64_t rows);
  void StoreDropped(absl::string_view table, int64_t rows);
  void SetStoreLost(bool lost);  // store::IsStoreLost()
  void ModelLoaded(const predict::ModelInfo& info, int64_t num_targets);
  void ModelReloadFailed();
  void SetTargets(int64_t num_targets);
  void SetListening(bool listening);
  void SetQueued(Lane lane, Urgency urgency, int64_t queued);
  void SetRunning(Lane lane, int64_t running);
  void SetStuckThreads(Lane lane, int64_t threads);
  void CallOverdue(Rpc rpc);
  void SetConnections(int64_t open);
  void ConnectionsEnded(int64_t count);  // to make room for new ones, or for what they hold
  void ArrivalRefused();                 // a call whose message did not arrive

  // `stats` is called at every scrape; it must live as long as this object.
  void WatchCache(absl::string_view name, std::function<CacheStats()> stats);

  // The collectables of the metrics endpoint.
  std::vector<std::shared_ptr<prometheus::Collectable>> collectables() const;

 private:
  class ScrapedValues;  // values that are computed at a scrape
  class GrpcNames;

  // A new family of the registry.
  prometheus::Family<prometheus::Counter>& Counters(const char* name, const char* help);
  prometheus::Family<prometheus::Gauge>& Gauges(const char* name, const char* help);
  prometheus::Family<prometheus::Histogram>& Histograms(const char* name, const char* help);
  // Creates the labels of every family that are known in advance.
  void AddKnownLabels();

  std::atomic<int64_t> requests_began_{0}, requests_done_{0};
  std::shared_ptr<prometheus::Registry> registry_;
  std::shared_ptr<ScrapedValues> pulled_;
  std::shared_ptr<GrpcNames> grpc_names_;

  prometheus::Family<prometheus::Counter>& began_;
  prometheus::Family<prometheus::Counter>& received_;
  prometheus::Family<prometheus::Counter>& sent_;
  prometheus::Family<prometheus::Counter>& requests_;
  prometheus::Family<prometheus::Histogram>& request_seconds_;
  prometheus::Family<prometheus::Counter>& items_failed_;
  // Of each RPC: its requests, its messages, the requests that succeeded, and how long they took.
  // Looked up once.
  struct RpcSeries {
    prometheus::Counter* began;
    prometheus::Counter* received;
    prometheus::Counter* sent;
    prometheus::Counter* ok;
    prometheus::Histogram* seconds;
  };
  std::array<RpcSeries, std::size(kRpcs)> by_rpc_;
  prometheus::Family<prometheus::Histogram>& phase_seconds_;
  prometheus::Family<prometheus::Counter>& reader_failures_;
  prometheus::Family<prometheus::Counter>& reader_deaths_;
  prometheus::Family<prometheus::Counter>& predictions_;
  prometheus::Family<prometheus::Counter>& extrapolating_;
  prometheus::Family<prometheus::Histogram>& measured_over_predicted_;
  prometheus::Family<prometheus::Counter>& tasks_requested_;
  std::array<prometheus::Counter*, 6> reported_;  // by ReportLabel
  prometheus::Family<prometheus::Counter>& store_rows_;
  prometheus::Family<prometheus::Counter>& store_failures_;
  prometheus::Family<prometheus::Counter>& store_dropped_;
  prometheus::Gauge& store_lost_;
  prometheus::Family<prometheus::Counter>& reloads_;
  prometheus::Family<prometheus::Gauge>& model_info_;
  prometheus::Gauge& targets_;
  prometheus::Gauge& listening_;
  // By lane. Looking a gauge up by its label costs more than setting it, and each call sets four of
  // them three times.
  using LaneGauges = std::array<prometheus::Gauge*, std::size(kLanes)>;
  std::array<LaneGauges, std::size(kUrgencies)> queued_;
  LaneGauges running_, stuck_;
  prometheus::Family<prometheus::Counter>& overdue_;
  prometheus::Gauge& connections_;
  prometheus::Counter& connections_ended_;
  prometheus::Counter& arrivals_refused_;
  prometheus::Gauge* current_model_ = nullptr;  // written by one thread at a time (LiveModel's lock)
};

// gRPC's name of a status: "NOT_FOUND".
std::string StatusName(absl::StatusCode code);

}  // namespace cobra::server

#endif  // COBRA_SERVER_LANES_METRICS_H_
