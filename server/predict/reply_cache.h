// Replies to Predict by the bytes of the requests: the first of the caches, asked before a request
// is parsed. A request is found by a keyed hash of its bytes, so that nobody can make another
// user's request hit a reply of their own (base/bytes/keyed_hash.h).
#ifndef COBRA_SERVER_PREDICT_REPLY_CACHE_H_
#define COBRA_SERVER_PREDICT_REPLY_CACHE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes/clock_cache.h"
#include "base/bytes/hash.h"
#include "model/predict/predictor.h"
#include "server/lanes/metrics.h"
#include "server/reader/reader_processes.h"

namespace cobra::server {

struct CachedReply {
  // Of the snapshot (targets/live_model.h) that made it: another one has other weights,
  // calibrations or targets.
  int64_t generation = 0;
  std::string bytes;                          // v1.PredictResponse; without the times, which were another request's
  std::vector<PredictionCounters> predicted;  // what the reply counts as
  FilesUnchanged files_unchanged;             // empty: it depends on no files
  mutable std::atomic<int64_t> files_checked_ns{0};  // Unix time

  CachedReply() = default;
  CachedReply(CachedReply&& other) noexcept
      : generation(other.generation),
        bytes(std::move(other.bytes)),
        predicted(std::move(other.predicted)),
        files_unchanged(std::move(other.files_unchanged)),
        files_checked_ns(other.files_checked_ns.load(std::memory_order_relaxed)) {}
};

struct FoundReply {
  std::shared_ptr<const CachedReply> reply;  // null: none is known
  bool must_wait = false;                    // there may be one: its files have to be looked at first
};

class ReplyCache {
 public:
  explicit ReplyCache(int64_t capacity_bytes) : cache_(capacity_bytes) {}

  // None if there is none of that generation (those of others stay beside it), or if the files it
  // depends on have changed. They count as unchanged for a second after they were looked at. When
  // that is over, they are looked at again if `may_wait`.
  FoundReply Find(const Hash128& request, int64_t generation, bool may_wait);
  void Insert(const Hash128& request, CachedReply reply);
  // Whether this was called for the request not long ago: for many others it was not called since.
  bool SeenBefore(const Hash128& request);
  void Clear() { cache_.Clear(); }
  CacheStats stats() { return cache_.stats(); }

 private:
  static constexpr size_t kSeen = 1 << 14;

  ClockCache<CachedReply> cache_;
  std::unique_ptr<std::atomic<uint64_t>[]> seen_ { new std::atomic<uint64_t>[ kSeen ]() };  // half of a hash each
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_PREDICT_REPLY_CACHE_H_
