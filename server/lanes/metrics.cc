#include "server/lanes/metrics.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "base/process/address_space.h"
#include "prometheus/counter.h"
#include "prometheus/gauge.h"
#include "prometheus/histogram.h"
#include "prometheus/metric_family.h"

namespace cobra::server {
namespace {

using prometheus::MetricType;

// From a reply that is in the caches (tens of microseconds) to a request that reads a large
// library.
const prometheus::Histogram::BucketBoundaries kSeconds = {
    0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60};

// Symmetric around 1 in the logarithm: 2 %, 5 %, 10 %, 15 % (the threshold in deploy/alerts.yml),
// 25 %, and factors of 1.5, 2 and 4 either way.
const prometheus::Histogram::BucketBoundaries kRatios = {0.25, 0.5,  0.667, 0.8,  0.87, 0.909, 0.952, 0.98,
                                                         1.02, 1.05, 1.1,   1.15, 1.25, 1.5,   2,     4};

prometheus::MetricFamily OneValue(const char* name, const char* help, MetricType type, double value) {
  prometheus::MetricFamily family{name, help, type, {}};
  family.metric.resize(1);
  (type == MetricType::Counter ? family.metric[0].counter.value : family.metric[0].gauge.value) = value;
  return family;
}

struct CacheColumn {
  const char* name;
  const char* help;
  MetricType type;
  int64_t CacheStats::*field;
};
constexpr CacheColumn kCacheColumns[] = {
    {"cobra_cache_hits_total", "Look-ups that found an entry", MetricType::Counter, &CacheStats::hits},
    {"cobra_cache_misses_total", "Look-ups that found none", MetricType::Counter, &CacheStats::misses},
    {"cobra_cache_evictions_total", "Entries evicted by newer ones", MetricType::Counter, &CacheStats::evictions},
    {"cobra_cache_entries", "Entries now", MetricType::Gauge, &CacheStats::entries},
    {"cobra_cache_bytes", "Bytes now, bookkeeping included", MetricType::Gauge, &CacheStats::bytes},
    {"cobra_cache_capacity_bytes", "Bound of cobra_cache_bytes", MetricType::Gauge, &CacheStats::capacity_bytes},
};

constexpr const char* kReportLabels[] = {"accepted", "duplicate", "unknown_task", "invalid", "not_leased", "held"};

std::array<prometheus::Counter*, std::size(kReportLabels)> ByOutcome(prometheus::Family<prometheus::Counter>& family) {
  std::array<prometheus::Counter*, std::size(kReportLabels)> counters{};
  for (size_t i = 0; i < counters.size(); ++i) counters[i] = &family.Add({{"outcome", kReportLabels[i]}});
  return counters;
}

using LaneGauges = std::array<prometheus::Gauge*, std::size(kLanes)>;

// One gauge per lane, each at 0.
LaneGauges ByLane(prometheus::Family<prometheus::Gauge>& family, prometheus::Labels labels = {}) {
  LaneGauges gauges{};
  for (const Lane lane : kLanes) {
    labels["lane"] = LaneName(lane);
    gauges[static_cast<size_t>(lane)] = &family.Add(labels);
  }
  return gauges;
}

std::array<LaneGauges, std::size(kUrgencies)> ByUrgency(prometheus::Family<prometheus::Gauge>& family) {
  std::array<LaneGauges, std::size(kUrgencies)> gauges{};
  for (const Urgency urgency : kUrgencies)
    gauges[static_cast<size_t>(urgency)] = ByLane(family, {{"class", UrgencyName(urgency)}});
  return gauges;
}

// As go-grpc-prometheus has it, whose dashboards many have.
const char* GrpcType(RpcKind kind) {
  switch (kind) {
    case RpcKind::kUnary: return "unary";
    case RpcKind::kServerStreaming: return "server_stream";
    case RpcKind::kBidirectional: return "bidi_stream";
  }
  return "unary";
}

// "NotFound" of "NOT_FOUND".
std::string GrpcCode(absl::string_view status) {
  if (status == "OK") return "OK";
  std::string code;
  for (const absl::string_view word : absl::StrSplit(status, '_'))
    absl::StrAppend(&code, word.substr(0, 1), absl::AsciiStrToLower(word.substr(1)));
  return code == "Cancelled" ? "Canceled" : code;
}

prometheus::Labels GrpcLabels(const RpcInfo& rpc) {
  return {{"grpc_type", GrpcType(rpc.kind)}, {"grpc_service", rpc.service}, {"grpc_method", rpc.method}};
}

}  // namespace

// Our counts of requests under the names that standard dashboards for gRPC know.
class Metrics::GrpcNames : public prometheus::Collectable {
 public:
  GrpcNames(const prometheus::Family<prometheus::Counter>* requests,
            const prometheus::Family<prometheus::Histogram>* seconds)
      : requests_(requests), seconds_(seconds) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    std::vector<prometheus::MetricFamily> families;
    Append(requests_->Collect(), "grpc_server_handled_total", &families);
    Append(seconds_->Collect(), "grpc_server_handling_seconds", &families);
    return families;
  }

 private:
  static void Append(std::vector<prometheus::MetricFamily> ours, const char* name,
                     std::vector<prometheus::MetricFamily>* families) {
    for (prometheus::MetricFamily& family : ours) {
      family.name = name;
      for (prometheus::ClientMetric& metric : family.metric) metric.label = Renamed(metric.label);
      families->push_back(std::move(family));
    }
  }

  static std::vector<prometheus::ClientMetric::Label> Renamed(
      const std::vector<prometheus::ClientMetric::Label>& labels) {
    std::vector<prometheus::ClientMetric::Label> renamed;
    for (const prometheus::ClientMetric::Label& label : labels) {
      if (label.name == "status") renamed.push_back({"grpc_code", GrpcCode(label.value)});
      if (label.name != "method") continue;
      const auto rpc = std::find_if(std::begin(kRpcs), std::end(kRpcs),
                                    [&label](const RpcInfo& info) { return label.value == info.method; });
      if (rpc == std::end(kRpcs)) continue;
      for (const auto& [name, value] : GrpcLabels(*rpc)) renamed.push_back({name, value});
    }
    return renamed;
  }

  const prometheus::Family<prometheus::Counter>* const requests_;
  const prometheus::Family<prometheus::Histogram>* const seconds_;
};

class Metrics::ScrapedValues : public prometheus::Collectable {
 public:
  void Add(std::string name, std::function<CacheStats()> stats) {
    absl::MutexLock lock(&mutex_);
    caches_.emplace_back(std::move(name), std::move(stats));
  }

  std::vector<prometheus::MetricFamily> Collect() const override {
    std::vector<prometheus::MetricFamily> families;
    for (const CacheColumn& column : kCacheColumns) families.push_back({column.name, column.help, column.type, {}});
    absl::MutexLock lock(&mutex_);
    for (const auto& [name, read] : caches_) {
      const CacheStats stats = read();
      for (size_t i = 0; i < families.size(); ++i) {
        prometheus::ClientMetric metric;
        metric.label.push_back({"cache", name});
        const double value = static_cast<double>(stats.*kCacheColumns[i].field);
        (families[i].type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
        families[i].metric.push_back(std::move(metric));
      }
    }
    families.push_back(OneValue("process_resident_memory_bytes", "Resident memory", MetricType::Gauge,
                                static_cast<double>(ResidentBytes())));
    families.push_back(OneValue("process_start_time_seconds", "Start of the server, Unix time", MetricType::Gauge,
                                absl::ToDoubleSeconds(started_ - absl::UnixEpoch())));
    return families;
  }

 private:
  const absl::Time started_ = absl::Now();
  mutable absl::Mutex mutex_;
  std::vector<std::pair<std::string, std::function<CacheStats()>>> caches_ ABSL_GUARDED_BY(mutex_);
};

std::string StatusName(absl::StatusCode code) { return absl::StatusCodeToString(code); }

Metrics::Metrics()
    : registry_(std::make_shared<prometheus::Registry>()),
      pulled_(std::make_shared<ScrapedValues>()),
      began_(Counters("grpc_server_started_total", "Requests that have arrived")),
      received_(Counters("grpc_server_msg_received_total", "Messages from callers")),
      sent_(Counters("grpc_server_msg_sent_total", "Messages to callers")),
      requests_(Counters("cobra_requests_total", "Finished requests")),
      request_seconds_(Histograms("cobra_request_duration_seconds",
                                  "From the arrival of a request to its status, waiting included; of Watch, as long as "
                                  "the caller watches")),
      items_failed_(Counters("cobra_items_failed_total",
                             "Requests of a batch or a stream that were answered with an error; of equal ones of a "
                             "batch, one")),
      phase_seconds_(
          Histograms("cobra_phase_duration_seconds", "Parts of a Predict: reading source or graph, predicting")),
      reader_failures_(Counters("cobra_reader_failures_total", "Models that could not be read, by kind of diagnostic")),
      reader_deaths_(
          Counters("cobra_reader_deaths_total", "Processes that ended before they had read their model, by cause")),
      predictions_(Counters("cobra_predictions_total", "Predictions by target and where they came from")),
      extrapolating_(
          Counters("cobra_predictions_extrapolating_total", "Predictions outside of what the model was trained on")),
      measured_over_predicted_(
          Histograms("cobra_measured_over_predicted",
                     "Latency that a worker measured over the one that the serving model predicts; "
                     "known: of layers like those it was trained on")),
      tasks_requested_(Counters("cobra_tasks_asked_total",
                                "Tasks enqueued because the model was unsure; dropped: networks whose layers were not, "
                                "because the queue was full")),
      reported_(ByOutcome(Counters("cobra_reports_total", "Measurements that workers reported, by outcome"))),
      store_rows_(Counters("cobra_store_rows_total", "Rows written, by table")),
      store_failures_(Counters("cobra_store_failures_total", "Writes that failed, by table")),
      store_dropped_(Counters("cobra_store_dropped_rows_total", "Rows not written because the store was too slow")),
      store_lost_(
          Gauges("cobra_store_lost",
                 "1 while the file or database of --store is not the one that was opened, and nothing is stored")
              .Add({})),
      reloads_(Counters("cobra_model_loads_total", "Model versions loaded, by result")),
      model_info_(Gauges("cobra_model_info", "1 for the version that is serving")),
      targets_(Gauges("cobra_targets", "Targets that Predict accepts").Add({})),
      listening_(
          Gauges("cobra_calibrations_listening", "1 while notifications of other servers' calibrations are received")
              .Add({})),
      queued_(ByUrgency(Gauges("cobra_requests_queued", "Requests waiting for a thread, by lane and class"))),
      running_(ByLane(Gauges("cobra_requests_in_flight", "Requests a thread works on, by lane"))),
      stuck_(ByLane(Gauges("cobra_threads_stuck", "Threads that work on a request past its deadline, by lane"))),
      overdue_(Counters("cobra_requests_overdue_total", "Requests still running a second after their deadline")),
      connections_(Gauges("cobra_connections", "Open connections of the API").Add({})),
      connections_ended_(
          Counters("cobra_connections_closed_total", "Connections closed to make room for others").Add({})),
      arrivals_refused_(
          Counters("cobra_calls_without_message_total", "Calls refused because their message did not arrive").Add({})) {
  AddKnownLabels();
  grpc_names_ = std::make_shared<GrpcNames>(&requests_, &request_seconds_);
}

prometheus::Family<prometheus::Counter>& Metrics::Counters(const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(*registry_);
}
prometheus::Family<prometheus::Gauge>& Metrics::Gauges(const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(*registry_);
}
prometheus::Family<prometheus::Histogram>& Metrics::Histograms(const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(*registry_);
}

void Metrics::AddKnownLabels() {
  for (const RpcInfo& rpc : kRpcs) {
    by_rpc_[static_cast<size_t>(rpc.rpc)] = {&began_.Add(GrpcLabels(rpc)), &received_.Add(GrpcLabels(rpc)),
                                             &sent_.Add(GrpcLabels(rpc)),
                                             &requests_.Add({{"method", rpc.method}, {"status", "OK"}}),
                                             &request_seconds_.Add({{"method", rpc.method}}, kSeconds)};
    overdue_.Add({{"method", rpc.method}});
  }
  for (const char* result : {"enqueued", "dropped"}) tasks_requested_.Add({{"result", result}});
  for (const char* phase : {"read", "predict"}) phase_seconds_.Add({{"phase", phase}}, kSeconds);
  using Kind = Diagnostic::Kind;
  for (Kind kind :
       {Kind::kUsage, Kind::kUnsupported, Kind::kDataDependent, Kind::kSyntaxError, Kind::kModelError, Kind::kLimit}) {
    reader_failures_.Add({{"kind", std::string(DiagnosticKindName(kind))}});
  }
  for (const char* cause : {"memory", "processor_time", "crash"}) reader_deaths_.Add({{"cause", cause}});
  for (const char* table : {"predictions", "measurements", "calibrations"}) {
    store_rows_.Add({{"table", table}});
    store_failures_.Add({{"table", table}});
    store_dropped_.Add({{"table", table}});
  }
  reloads_.Add({{"result", "failed"}});
}

void Metrics::RequestBegan(Rpc rpc) {
  ++requests_began_;
  by_rpc_[static_cast<size_t>(rpc)].began->Increment();
}

void Metrics::MessageReceived(Rpc rpc) { by_rpc_[static_cast<size_t>(rpc)].received->Increment(); }

void Metrics::MessageSent(Rpc rpc) { by_rpc_[static_cast<size_t>(rpc)].sent->Increment(); }

void Metrics::RequestDone(Rpc rpc, absl::StatusCode code, absl::Duration duration) {
  ++requests_done_;
  const RpcSeries& series = by_rpc_[static_cast<size_t>(rpc)];
  if (code == absl::StatusCode::kOk) {
    series.ok->Increment();
    if (InfoOf(rpc).kind == RpcKind::kUnary) MessageSent(rpc);
  } else {
    requests_.Add({{"method", MethodName(rpc)}, {"status", StatusName(code)}}).Increment();
  }
  series.seconds->Observe(absl::ToDoubleSeconds(duration));
}

void Metrics::ItemFailed(Rpc rpc, absl::StatusCode code) {
  items_failed_.Add({{"method", MethodName(rpc)}, {"status", StatusName(code)}}).Increment();
}

void Metrics::PhaseDone(absl::string_view phase, absl::Duration duration) {
  phase_seconds_.Add({{"phase", std::string(phase)}}, kSeconds).Observe(absl::ToDoubleSeconds(duration));
}

void Metrics::ReaderFailed(Diagnostic::Kind kind) {
  reader_failures_.Add({{"kind", std::string(DiagnosticKindName(kind))}}).Increment();
}

void Metrics::ReaderDied(absl::string_view cause) { reader_deaths_.Add({{"cause", std::string(cause)}}).Increment(); }

void Metrics::Predicted(absl::string_view target, bool from_cache, bool extrapolating) {
  predictions_.Add({{"target", std::string(target)}, {"source", from_cache ? "cache" : "model"}}).Increment();
  auto& counter = extrapolating_.Add({{"target", std::string(target)}});
  if (extrapolating) counter.Increment();
}

PredictionCounters Metrics::CountersOf(absl::string_view target, bool extrapolating) {
  return {&predictions_.Add({{"target", std::string(target)}, {"source", "cache"}}),
          extrapolating ? &extrapolating_.Add({{"target", std::string(target)}}) : nullptr};
}

void Metrics::Measured(absl::string_view target, absl::string_view layer_type, bool known,
                       double measured_over_predicted) {
  measured_over_predicted_
      .Add({{"target", std::string(target)},
            {"layer_type", std::string(layer_type)},
            {"known", known ? "true" : "false"}},
           kRatios)
      .Observe(measured_over_predicted);
}

void Metrics::TasksRequested(int64_t enqueued, int64_t dropped) {
  tasks_requested_.Add({{"result", "enqueued"}}).Increment(static_cast<double>(enqueued));
  tasks_requested_.Add({{"result", "dropped"}}).Increment(static_cast<double>(dropped));
}

void Metrics::Reported(ReportLabel outcome) { reported_[static_cast<size_t>(outcome)]->Increment(); }

void Metrics::StoreWritten(absl::string_view table, bool ok, int64_t rows) {
  if (ok) {
    store_rows_.Add({{"table", std::string(table)}}).Increment(static_cast<double>(rows));
  } else {
    store_failures_.Add({{"table", std::string(table)}}).Increment();
  }
}

void Metrics::StoreDropped(absl::string_view table, int64_t rows) {
  store_dropped_.Add({{"table", std::string(table)}}).Increment(static_cast<double>(rows));
}

void Metrics::SetStoreLost(bool lost) { store_lost_.Set(lost ? 1 : 0); }

void Metrics::ModelLoaded(const predict::ModelInfo& info, int64_t num_targets) {
  reloads_.Add({{"result", "ok"}}).Increment();
  if (current_model_ != nullptr) model_info_.Remove(current_model_);
  current_model_ = &model_info_.Add({{"version", info.version}, {"sha256", info.sha256}});
  current_model_->Set(1);
  targets_.Set(static_cast<double>(num_targets));
}

void Metrics::ModelReloadFailed() { reloads_.Add({{"result", "failed"}}).Increment(); }

void Metrics::SetTargets(int64_t num_targets) { targets_.Set(static_cast<double>(num_targets)); }

void Metrics::SetListening(bool listening) { listening_.Set(listening ? 1 : 0); }

void Metrics::SetQueued(Lane lane, Urgency urgency, int64_t queued) {
  queued_[static_cast<size_t>(urgency)][static_cast<size_t>(lane)]->Set(static_cast<double>(queued));
}

void Metrics::SetRunning(Lane lane, int64_t running) {
  running_[static_cast<size_t>(lane)]->Set(static_cast<double>(running));
}

void Metrics::SetStuckThreads(Lane lane, int64_t threads) {
  stuck_[static_cast<size_t>(lane)]->Set(static_cast<double>(threads));
}

void Metrics::CallOverdue(Rpc rpc) { overdue_.Add({{"method", MethodName(rpc)}}).Increment(); }

void Metrics::SetConnections(int64_t open) { connections_.Set(static_cast<double>(open)); }

void Metrics::ArrivalRefused() { arrivals_refused_.Increment(); }

void Metrics::ConnectionsEnded(int64_t count) { connections_ended_.Increment(static_cast<double>(count)); }

void Metrics::WatchCache(absl::string_view name, std::function<CacheStats()> stats) {
  pulled_->Add(std::string(name), std::move(stats));
}

std::vector<std::shared_ptr<prometheus::Collectable>> Metrics::collectables() const {
  return {registry_, grpc_names_, pulled_};
}

}  // namespace cobra::server
