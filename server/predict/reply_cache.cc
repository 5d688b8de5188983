#include "server/predict/reply_cache.h"

#include <utility>

#include "absl/time/clock.h"
#include "base/bytes/heap_bytes.h"

namespace cobra::server {
namespace {

constexpr int64_t kFilesTrustedNs = 1'000'000'000;
// A reply beyond this size is a breakdown that is hardly asked for twice.
constexpr size_t kMaxReplyBytes = 256 << 10;

// A new snapshot fills its replies while the old one still serves its own.
Hash128 KeyOf(const Hash128& request, int64_t generation) {
  Hash128 key = request;
  key.high += static_cast<uint64_t>(generation);  // half of a keyed hash: nobody knows which requests would collide
  return key;
}

}  // namespace

FoundReply ReplyCache::Find(const Hash128& request, int64_t generation, bool may_wait) {
  std::shared_ptr<const CachedReply> reply = cache_.Find(KeyOf(request, generation));
  if (reply == nullptr || reply->generation != generation) return {};
  if (!reply->files_unchanged) return {std::move(reply)};
  const int64_t now = absl::GetCurrentTimeNanos();
  if (now - reply->files_checked_ns.load(std::memory_order_relaxed) < kFilesTrustedNs) return {std::move(reply)};
  if (!may_wait) return {nullptr, /*must_wait=*/true};
  if (!reply->files_unchanged()) return {};
  reply->files_checked_ns.store(now, std::memory_order_relaxed);
  return {std::move(reply)};
}

void ReplyCache::Insert(const Hash128& request, CachedReply reply) {
  if (reply.bytes.size() > kMaxReplyBytes) return;
  const int64_t held_bytes = HeapBytes(reply.bytes) + HeapBytes(reply.predicted);
  const Hash128 key = KeyOf(request, reply.generation);
  cache_.Insert(key, std::move(reply), held_bytes);
}

bool ReplyCache::SeenBefore(const Hash128& request) {
  return seen_[request.low % kSeen].exchange(request.high, std::memory_order_relaxed) == request.high;
}

}  // namespace cobra::server
