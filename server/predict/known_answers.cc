#include "server/predict/known_answers.h"

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"
#include "base/bytes/heap_bytes.h"
#include "base/bytes/keyed_hash.h"
#include "base/status_macros.h"
#include "server/predict/prediction_rows.h"

namespace cobra::server {
namespace {

void Count(const PredictionCounters& counters) {
  counters.from_cache->Increment();
  if (counters.extrapolating != nullptr) counters.extrapolating->Increment();
}

// A cached answer is that of exactly the same graph on the same target of the same snapshot. The
// fingerprint would not do as a key: it leaves out calls that take time, and callers could choose
// two graphs that share it.
Hash128 KeyOfTotals(const NetworkSummary& network, const ModelSnapshot& model, absl::string_view target) {
  SipHasher hasher = KeyedHasher();
  const int64_t head[] = {static_cast<int64_t>(network.exact.high), static_cast<int64_t>(network.exact.low),
                          model.generation};
  hasher.Add(absl::string_view(reinterpret_cast<const char*>(head), sizeof(head)));
  hasher.Add(target);
  return std::move(hasher).Finish();
}

}  // namespace

NetworkParts NetworkParts::WantedBy(const v1::PredictRequest& request, const CallContext& call) {
  NetworkParts wanted = All();
  if (call.labels != nullptr) return wanted;
  for (const int part : request.omit()) {
    if (v1::NetworkPart_IsValid(part)) wanted.bits_ &= ~(1U << part);
  }
  return wanted;
}

void FillNetwork(const NetworkSummary& network, NetworkParts wanted, v1::PredictResponse* reply) {
  if (wanted.Has(v1::NETWORK_PART_FINGERPRINT)) reply->set_fingerprint(network.fingerprint);
  if (wanted.Has(v1::NETWORK_PART_COUNTS)) {
    reply->set_node_count(network.node_count);
    reply->set_parameter_count(network.parameter_count);
    reply->set_macs(network.macs);
    reply->set_flops(network.flops);
  }
  if (wanted.Has(v1::NETWORK_PART_PEAK_MEMORY)) reply->set_peak_memory_bytes(network.peak_memory_bytes);
}

KnownAnswers::KnownAnswers(const CacheSizes& sizes, Metrics* metrics)
    : metrics_(metrics), replies_(sizes.reply_bytes), networks_(sizes.network_bytes), totals_(sizes.prediction_bytes) {}

std::vector<KnownAnswers::NamedCache> KnownAnswers::caches() {
  return {{"reply", [this] { return replies_.stats(); }, [this] { replies_.Clear(); }},
          {"network", [this] { return networks_.stats(); }, [this] { networks_.Clear(); }},
          {"prediction", [this] { return totals_.stats(); }, [this] { totals_.Clear(); }}};
}

FoundReply KnownAnswers::FindReply(const Hash128& request, int64_t generation, bool may_wait,
                                   absl::FunctionRef<std::string()> bytes) {
  FoundReply found = replies_.Find(request, generation, may_wait);
  if (found.reply == nullptr) return found;
  hot_.Asked(request, bytes);
  for (const PredictionCounters& counters : found.reply->predicted) Count(counters);
  return found;
}

void KnownAnswers::RememberReply(const Hash128& request, int64_t generation, const FilesUnchanged& files_unchanged,
                                 const v1::PredictResponse& reply) {
  if (request == Hash128()) return;
  CachedReply cached;
  cached.generation = generation;
  cached.bytes = reply.SerializeAsString();
  for (const v1::TargetPrediction& prediction : reply.predictions())
    cached.predicted.push_back(metrics_->CountersOf(prediction.target(), prediction.extrapolating()));
  cached.files_unchanged = files_unchanged;
  cached.files_checked_ns.store(absl::GetCurrentTimeNanos(), std::memory_order_relaxed);
  replies_.Insert(request, std::move(cached));
}

std::shared_ptr<const NetworkSummary> KnownAnswers::RememberNetwork(const Hash128& key, NetworkSummary network) {
  const int64_t held_bytes = HeapBytes(network.fingerprint);
  return networks_.Insert(key, std::move(network), held_bytes);
}

std::shared_ptr<const KnownTotals> KnownAnswers::RememberTotals(const Hash128& key, KnownTotals totals) {
  const std::vector<predict::UnknownPart>& unknown = totals.totals.unknown;
  int64_t held_bytes = HeapBytes(unknown);
  for (const predict::UnknownPart& part : unknown) held_bytes += HeapBytes(part.why);
  return totals_.Insert(key, std::move(totals), held_bytes);
}

absl::StatusOr<std::shared_ptr<const KnownTotals>> KnownAnswers::TotalsOf(
    const NetworkSummary& network, const ModelSnapshot& model, const std::string& target, const CallContext& call,
    absl::FunctionRef<absl::StatusOr<KnownTotals>()> compute) {
  const Hash128 key = KeyOfTotals(network, model, target);
  std::shared_ptr<const KnownTotals> known = totals_.Find(key);
  if (known == nullptr) {
    const bool is_first = computing_.Begin(key, [&] { return call.Stopped(); });
    if (!is_first) known = totals_.Find(key);
    if (known == nullptr) {  // also if the one that was first has failed
      const auto end = absl::MakeCleanup([&] {
        if (is_first) computing_.End(key);
      });
      COBRA_ASSIGN_OR_RETURN(KnownTotals computed, compute());
      return RememberTotals(key, std::move(computed));
    }
  }
  if (!call.is_warm_up) Count(known->counters);
  return known;
}

std::optional<v1::PredictResponse> KnownAnswers::AnswerTo(const Hash128& network_key, const ModelSnapshot& model,
                                                          const std::vector<std::string>& targets,
                                                          NetworkParts wanted) {
  const std::shared_ptr<const NetworkSummary> network = networks_.Find(network_key);
  if (network == nullptr || !network->known.HasAllOf(wanted)) return std::nullopt;
  std::vector<std::shared_ptr<const KnownTotals>> known;
  for (const std::string& target : targets) {
    known.push_back(totals_.Find(KeyOfTotals(*network, model, target)));
    if (known.back() == nullptr) return std::nullopt;
  }
  v1::PredictResponse reply;
  reply.set_model_version(model.predictor->info().version);
  FillNetwork(*network, wanted, &reply);
  for (size_t i = 0; i < targets.size(); ++i) {
    Count(known[i]->counters);
    FillTargetPrediction(targets[i], known[i]->totals, known[i]->PeakMemoryBytesOf(*network, wanted),
                         reply.add_predictions());
  }
  return reply;
}

}  // namespace cobra::server
