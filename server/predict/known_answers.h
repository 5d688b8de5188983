// What is known about networks and requests that were answered before: three caches, each asked
// when the one before it does not know. What nobody knows, computation.h reads and predicts.
#ifndef COBRA_SERVER_PREDICT_KNOWN_ANSWERS_H_
#define COBRA_SERVER_PREDICT_KNOWN_ANSWERS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/bytes/cache_stats.h"
#include "base/bytes/clock_cache.h"
#include "base/bytes/hash.h"
#include "cobra/v1/cobra.pb.h"
#include "model/predict/predictor.h"
#include "server/lanes/call_context.h"
#include "server/lanes/metrics.h"
#include "server/predict/hot_requests.h"
#include "server/predict/reply_cache.h"
#include "server/predict/single_flight.h"
#include "server/reader/reader_processes.h"
#include "server/targets/live_model.h"

namespace cobra::server {

struct CacheSizes {
  int64_t prediction_bytes = int64_t{32} << 20;  // about 90,000 networks on one target each
  int64_t network_bytes = int64_t{32} << 20;     // about 60,000 networks
  int64_t reply_bytes = int64_t{32} << 20;       // about 60,000 requests for one target each
};

// Of v1::NetworkPart.
class NetworkParts {
 public:
  static NetworkParts All() { return NetworkParts(~0U); }
  // All but those that the request omits; of a call with labels all.
  static NetworkParts WantedBy(const v1::PredictRequest& request, const CallContext& call);

  bool Has(v1::NetworkPart part) const { return (bits_ >> part & 1) != 0; }
  bool HasAllOf(NetworkParts other) const { return (other.bits_ & ~bits_) == 0; }
  NetworkParts With(NetworkParts other) const { return NetworkParts(bits_ | other.bits_); }

 private:
  explicit NetworkParts(uint32_t bits) : bits_(bits) {}

  uint32_t bits_;
};

// What a reply says of a network, whatever the target.
struct NetworkSummary {
  Hash128 exact;  // keyed, of graph/exact_bytes.h
  std::string fingerprint;
  int node_count = 0;
  int64_t parameter_count = 0, macs = 0, flops = 0, peak_memory_bytes = 0;
  bool is_float32 = true;                    // all of its parameters
  NetworkParts known = NetworkParts::All();  // of the others but `exact`
};
// The wanted parts. REQUIRES: they are known.
void FillNetwork(const NetworkSummary& network, NetworkParts wanted, v1::PredictResponse* reply);

// The prediction for a network on a target, without its calls.
struct KnownTotals {
  predict::PredictionTotals totals;
  bool has_half_tensors = false;  // its float32 network is run with tensors of half the size
  PredictionCounters counters;    // for when it is answered again

  // TargetPrediction's.
  int64_t PeakMemoryBytesOf(const NetworkSummary& network, NetworkParts wanted) const {
    return has_half_tensors && wanted.Has(v1::NETWORK_PART_PEAK_MEMORY) ? network.peak_memory_bytes / 2 : 0;
  }
};

class KnownAnswers {
 public:
  // `metrics` is not owned and must outlive this object.
  KnownAnswers(const CacheSizes& sizes, Metrics* metrics);

  // Replies by the bytes of requests: of the snapshot of that generation, if nothing has changed
  // since (reply_cache.h). Counts the predictions. `bytes` gives the request's own, for few
  // requests.
  FoundReply FindReply(const Hash128& request, int64_t generation, bool may_wait,
                       absl::FunctionRef<std::string()> bytes);
  // `reply` without the times: another request's reading takes no time. Does nothing where
  // `request` is zero.
  void RememberReply(const Hash128& request, int64_t generation, const FilesUnchanged& files_unchanged,
                     const v1::PredictResponse& reply);
  // Whether this was called for the request not long ago.
  bool SeenBefore(const Hash128& request) { return replies_.SeenBefore(request); }
  // The bytes of the requests that are asked most, the most frequent first.
  std::vector<std::string> HottestRequests() { return hot_.Hottest(); }

  // Networks by NetworkSummary::exact (of an architecture string: of its text), and by the hash of
  // the bytes of graphs as they came (proto/network_hash.h). Null if it is not known.
  std::shared_ptr<const NetworkSummary> FindNetwork(const Hash128& key) { return networks_.Find(key); }
  std::shared_ptr<const NetworkSummary> RememberNetwork(const Hash128& key, NetworkSummary network);

  // Predictions by network, snapshot and target. Computed where it is not known, by one thread at a
  // time: the others wait for it. A prediction that was known is counted, but for a warm-up.
  absl::StatusOr<std::shared_ptr<const KnownTotals>> TotalsOf(const NetworkSummary& network, const ModelSnapshot& model,
                                                              const std::string& target, const CallContext& call,
                                                              absl::FunctionRef<absl::StatusOr<KnownTotals>()> compute);

  // The whole reply without reading the graph, counted; nothing if some of it is not known.
  std::optional<v1::PredictResponse> AnswerTo(const Hash128& network, const ModelSnapshot& model,
                                              const std::vector<std::string>& targets, NetworkParts wanted);

  struct NamedCache {
    absl::string_view name;
    std::function<CacheStats()> stats;
    std::function<void()> flush;
  };
  // In the order in which a request asks them.
  std::vector<NamedCache> caches();

 private:
  std::shared_ptr<const KnownTotals> RememberTotals(const Hash128& key, KnownTotals totals);

  Metrics* const metrics_;
  ReplyCache replies_;
  ClockCache<NetworkSummary> networks_;
  ClockCache<KnownTotals> totals_;
  SingleFlight computing_;  // by the keys of totals_
  HotRequests hot_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_PREDICT_KNOWN_ANSWERS_H_
