// Caches of a thousand and of a million entries: `cobra-bench cache`.
//
// Look-ups of base/bytes/clock_cache.h in this process, on one thread and in the processor's
// time, of embeddings in random order. Requests to two servers in turns, one of which has answered
// a thousand different ones before, the other a million; each is asked for those, in random order.
// They name one network and differ in a number that the server ignores, so they are found by their
// bytes (server/predict/reply_cache.h).
//
// flatness          time of a look-up among a million entries over that among a thousand, as a
//                   network's layers are looked up: many at a time
// flatness_alone    the same of look-ups one after the other
// bytes_per_entry   of the heap for an entry, less the numbers of its embedding; charged_bytes is
//                   what the cache counts for it, with them
// predict_flatness  replies a second with a million requests over those with a thousand; median of
//                   the rounds' ratios
// lookup_ns, lookup_alone_ns  by the number of entries
#include <malloc.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/bytes/clock_cache.h"
#include "base/bytes/hash.h"
#include "base/bytes/heap_bytes.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "tests/bench/architectures.h"
#include "tests/bench/bench.h"
#include "tests/bench/cobra_server.h"
#include "tests/bench/stream_load.h"

namespace cobra::bench {
namespace {

constexpr size_t kFew = 1000;
constexpr size_t kLookUps = 4000000;
constexpr int kInFlight = 32, kConnections = 2;
constexpr double kWarmUpShare = 0.25;  // of the time that is measured

struct CacheFlags {
  int rounds = 5;
  double seconds = 2;
  size_t entries = 1000000;
  bool lookups_only = false;
};

// As model/predict/layer_embedder.h keeps one.
struct CachedLayer {
  std::vector<float> embedding;
  std::string unknown;
};
constexpr size_t kWidth = 96;

Hash128 KeyOf(size_t number) { return HashBytes(absl::StrCat("layer ", number)); }

double HeapInUse() {
  const struct mallinfo2 heap = ::mallinfo2();
  return static_cast<double>(heap.uordblks + heap.hblkhd);
}

struct LookUps {
  double ns = 0, alone_ns = 0, bytes_per_entry = 0, charged_bytes = 0;
};

using LayerCache = ClockCache<CachedLayer>;

// Nanoseconds of one look-up.
absl::StatusOr<double> TimeAlone(LayerCache* cache, const std::vector<Hash128>& order) {
  size_t found = 0;
  const Stopwatch watch;
  for (const Hash128& key : order) found += cache->Find(key) != nullptr;
  const double ns = watch.Elapsed().cpu * 1e9 / static_cast<double>(order.size());
  if (found != order.size()) return absl::InternalError("an entry was not found");
  return ns;
}

absl::StatusOr<double> TimeTogether(LayerCache* cache, const std::vector<Hash128>& order) {
  constexpr size_t kLayers = 50;  // of a network
  std::vector<std::shared_ptr<const CachedLayer>> values(kLayers);
  size_t found = 0;
  const Stopwatch watch;
  for (size_t first = 0; first + kLayers <= order.size(); first += kLayers) {
    cache->FindMany(absl::MakeConstSpan(order).subspan(first, kLayers), absl::MakeSpan(values));
    for (const auto& value : values) found += value != nullptr;
  }
  const double ns = watch.Elapsed().cpu * 1e9 / static_cast<double>(order.size());
  if (found != order.size()) return absl::InternalError("an entry was not found");
  return ns;
}

absl::StatusOr<LookUps> MeasureLookUps(size_t entries) {
  std::vector<Hash128> keys;
  for (size_t i = 0; i < entries; ++i) keys.push_back(KeyOf(i));
  std::vector<Hash128> order(kLookUps);
  std::mt19937_64 random(1);
  for (Hash128& key : order) key = keys[random() % entries];
  const double before = HeapInUse();
  LayerCache cache(int64_t{8} << 30);
  for (const Hash128& key : keys) {
    CachedLayer layer{std::vector<float>(kWidth), ""};
    const int64_t held_bytes = HeapBytes(layer.embedding);
    cache.Insert(key, std::move(layer), held_bytes);
  }
  const auto count = static_cast<double>(entries);
  LookUps result;
  result.bytes_per_entry = (HeapInUse() - before) / count - static_cast<double>(kWidth * sizeof(float));
  result.charged_bytes = static_cast<double>(cache.stats().bytes) / count;
  COBRA_ASSIGN_OR_RETURN(result.alone_ns, TimeAlone(&cache, order));
  COBRA_ASSIGN_OR_RETURN(result.ns, TimeTogether(&cache, order));
  return result;
}

absl::StatusOr<Json> CompareLookUps(int rounds, size_t entries) {
  std::vector<double> few_ns, many_ns, ratios, few_alone_ns, many_alone_ns, alone_ratios;
  LookUps many;
  for (int round = 0; round < rounds; ++round) {
    COBRA_ASSIGN_OR_RETURN(const LookUps few, MeasureLookUps(kFew));
    COBRA_ASSIGN_OR_RETURN(many, MeasureLookUps(entries));
    few_ns.push_back(few.ns);
    many_ns.push_back(many.ns);
    ratios.push_back(many.ns / few.ns);
    few_alone_ns.push_back(few.alone_ns);
    many_alone_ns.push_back(many.alone_ns);
    alone_ratios.push_back(many.alone_ns / few.alone_ns);
  }
  const auto by_entries = [&](std::vector<double> of_few, std::vector<double> of_many) {
    return Json{{absl::StrCat(kFew), Median(std::move(of_few))}, {absl::StrCat(entries), Median(std::move(of_many))}};
  };
  return Json{{"bytes_per_entry", many.bytes_per_entry},  {"flatness", Median(ratios)},
              {"flatness_alone", Median(alone_ratios)},   {"charged_bytes", many.charged_bytes},
              {"lookup_ns", by_entries(few_ns, many_ns)}, {"lookup_alone_ns", by_entries(few_alone_ns, many_alone_ns)}};
}

// The same question in different bytes: a field that no version of the API has carries the number.
std::vector<v1::PredictRequest> DifferentRequests(size_t count, const std::string& target) {
  v1::PredictRequest request = Nasbench201Requests(1, target)[0];
  request.mutable_architecture()->set_text(
      absl::StrCat("nasbench201,cells=1:", Nasbench201Cell(kNasbench201Cells - 1)));
  std::vector<v1::PredictRequest> requests(count, request);
  for (size_t i = 0; i < count; ++i) {
    constexpr int kNoField = 1000;
    requests[i].GetReflection()->MutableUnknownFields(&requests[i])->AddFixed32(kNoField, static_cast<uint32_t>(i));
  }
  return requests;
}

// A server that has answered `count` requests, and these.
class Filled {
 public:
  static absl::StatusOr<std::unique_ptr<Filled>> Start(size_t count) {
    auto filled = std::make_unique<Filled>();
    COBRA_ASSIGN_OR_RETURN(filled->server_, CobraServer::Start({.flags = {"--reply-cache-mb", "4096"}}));
    const std::vector<v1::PredictRequest> different = DifferentRequests(count, filled->server_->target());
    for (const v1::PredictRequest& request : different)
      filled->requests_.push_back(ToByteBuffer(request.SerializeAsString()));
    const std::vector<grpc::ByteBuffer> messages = StreamMessages(different);
    StreamLoop loop;
    loop.each_once = true;
    COBRA_RETURN_IF_ERROR(RunStream(filled->server_->channel(), loop, messages).status());
    std::shuffle(filled->requests_.begin(), filled->requests_.end(), std::mt19937_64(1));
    return filled;
  }

  // Before the first measurement: a server closes connections that are not used for minutes, as
  // while the other one is filled.
  absl::Status Connect() {
    COBRA_ASSIGN_OR_RETURN(load_, LoadGenerator::Connect({.address = server_->address(), .connections = kConnections}));
    return absl::OkStatus();
  }

  // Goes on in the list from one time to the next.
  absl::StatusOr<double> RequestsPerSecond(double seconds) {
    ClosedLoop loop;
    loop.in_flight = kInFlight;
    loop.duration = absl::Seconds(seconds);
    loop.warm_up = kWarmUpShare * loop.duration;
    std::rotate(requests_.begin(), requests_.begin() + static_cast<std::ptrdiff_t>(requests_.size() / 7),
                requests_.end());
    const LoadResult result = load_->Run(loop, requests_);
    if (const std::string errors = result.ErrorText(); !errors.empty())
      return absl::InternalError(absl::StrCat("not every request was answered: ", errors));
    if (result.latencies.count() == 0) return absl::InternalError("no request was answered in time");
    return result.requests_per_s();
  }

 private:
  std::unique_ptr<CobraServer> server_;
  std::unique_ptr<LoadGenerator> load_;
  std::vector<grpc::ByteBuffer> requests_;
};

absl::StatusOr<Json> CompareServers(const CacheFlags& flags) {
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<Filled> many, Filled::Start(flags.entries));
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<Filled> few, Filled::Start(kFew));
  for (Filled* const one : {few.get(), many.get()}) COBRA_RETURN_IF_ERROR(one->Connect());
  std::vector<double> few_per_s, many_per_s, ratios;
  for (int round = 0; round < flags.rounds; ++round) {
    for (const bool first : {round % 2 == 0, round % 2 != 0}) {
      COBRA_ASSIGN_OR_RETURN(const double per_s, (first ? few : many)->RequestsPerSecond(flags.seconds));
      (first ? few_per_s : many_per_s).push_back(per_s);
    }
    ratios.push_back(many_per_s.back() / few_per_s.back());
  }
  return Json{{"predict_flatness", Median(ratios)},
              {"requests_per_s",
               Json{{absl::StrCat(kFew), Median(few_per_s)}, {absl::StrCat(flags.entries), Median(many_per_s)}}}};
}

absl::StatusOr<Json> RunCache(const CacheFlags& flags) {
  COBRA_ASSIGN_OR_RETURN(Json result, CompareLookUps(flags.rounds, flags.entries));
  if (flags.lookups_only) return result;
  COBRA_ASSIGN_OR_RETURN(const Json servers, CompareServers(flags));
  result.update(servers);
  result["rounds"] = flags.rounds;
  result["seconds"] = flags.seconds;
  return result;
}

}  // namespace

RunBenchmark AddCache(CLI::App* app) {
  auto flags = std::make_shared<CacheFlags>();
  AddRounds(app, &flags->rounds, "How often both sizes are measured");
  AddSeconds(app, &flags->seconds, "How long each server is asked in a round");
  app->add_option("--entries", flags->entries, "Of the large caches")
      ->check(CLI::Range(kFew, size_t{4000000}))
      ->capture_default_str();
  app->add_flag("--lookups", flags->lookups_only, "Leave the servers out");
  return [flags] { return RunCache(*flags); };
}

}  // namespace cobra::bench
