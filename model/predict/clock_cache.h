// A sharded cache bounded in bytes. The charge of an entry is what it takes of the heap: its value, what the value
// holds, and the bookkeeping. When a shard exceeds its part of the capacity, the clock algorithm evicts entries: they
// stand in a ring, and a hand that goes round spares what was found since it last came by. Unlike a list in the order
// of use, a look-up writes to its own entry alone. Each shard has its own mutex, so that requests for different layers
// seldom contend.
#ifndef COBRA_MODEL_PREDICT_CLOCK_CACHE_H_
#define COBRA_MODEL_PREDICT_CLOCK_CACHE_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "base/hash.h"
#include "base/heap_bytes.h"
#include "model/predict/cache_stats.h"

namespace cobra::predict {

template <typename Value>
class ClockCache {
 public:
  explicit ClockCache(int64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  // Null when absent.
  std::shared_ptr<const Value> Find(const Hash128& key) {
    std::shared_ptr<const Value> value;
    Shard& shard = ShardOf(key);
    {
      absl::MutexLock lock(&shard.mutex);
      if (const auto found = shard.index.find(key); found != shard.index.end()) value = Take(*found->second);
    }
    (value == nullptr ? misses_ : hits_).fetch_add(1, std::memory_order_relaxed);
    return value;
  }

  // A value for each key; null when absent. Among a million entries nearly every step of a look-up waits for memory:
  // many look-ups wait for it together. REQUIRES: as many values as keys.
  void FindMany(absl::Span<const Hash128> keys, absl::Span<std::shared_ptr<const Value>> values) {
    for (size_t first = 0; first < keys.size(); first += kTogether)
      FindTogether(keys.subspan(first, kTogether), values.subspan(first, kTogether));
  }

  // `held_bytes`: what the value holds on the heap beside itself (base/heap_bytes.h). What is larger than a shard is
  // not kept. REQUIRES: std::make_shared made the value.
  void Insert(const Hash128& key, std::shared_ptr<const Value> value, int64_t held_bytes) {
    Shard& shard = ShardOf(key);
    const int64_t charge = held_bytes + kEntryBytes, capacity = capacity_bytes_ / kShards;
    absl::MutexLock lock(&shard.mutex);
    if (const auto old = shard.index.find(key); old != shard.index.end()) Erase(shard, old->second);
    if (charge > capacity) return;
    while (shard.bytes + charge > capacity) EvictOne(shard);
    // Behind the hand, which reaches it last.
    shard.index[key] = shard.ring.insert(shard.hand, {key, std::move(value), charge, false});
    shard.bytes += charge;
  }

  // Forgets all entries; they do not count as evicted.
  void Clear() {
    for (Shard& shard : shards_) {
      std::list<Entry> entries;  // destroyed after the lock
      absl::MutexLock lock(&shard.mutex);
      entries.swap(shard.ring);
      shard.index.clear();
      shard.hand = shard.ring.end();
      shard.bytes = 0;
    }
  }

  CacheStats stats() {
    CacheStats s;
    s.hits = hits_.load(std::memory_order_relaxed);
    s.misses = misses_.load(std::memory_order_relaxed);
    s.evictions = evictions_.load(std::memory_order_relaxed);
    s.capacity_bytes = capacity_bytes_;
    for (Shard& shard : shards_) {
      absl::MutexLock lock(&shard.mutex);
      s.entries += static_cast<int64_t>(shard.ring.size());
      s.bytes += shard.bytes;
    }
    return s;
  }

 private:
  static constexpr size_t kShards = 16;
  static constexpr size_t kTogether = 64;  // of FindMany()
  struct Entry {
    Hash128 key;
    std::shared_ptr<const Value> value;
    int64_t charge;
    bool used;  // since the hand last came by
  };
  // The list's node with its two pointers; a slot of the map, which is between 7/16 and 7/8 full; the value behind the
  // counters of its shared_ptr.
  static constexpr int64_t kEntryBytes = MallocBytes(2 * sizeof(void*) + sizeof(Entry)) +
                                         3 * sizeof(std::pair<Hash128, void*>) / 2 +
                                         MallocBytes(2 * sizeof(void*) + sizeof(Value));
  using Ring = std::list<Entry>;
  struct Shard {
    absl::Mutex mutex;
    Ring ring ABSL_GUARDED_BY(mutex);
    typename Ring::iterator hand ABSL_GUARDED_BY(mutex) = ring.end();  // what it points at is judged next
    absl::flat_hash_map<Hash128, typename Ring::iterator> index ABSL_GUARDED_BY(mutex);
    int64_t bytes ABSL_GUARDED_BY(mutex) = 0;
  };

  static size_t NumberOfShard(const Hash128& key) { return key.low % kShards; }
  Shard& ShardOf(const Hash128& key) { return shards_[NumberOfShard(key)]; }

  static const std::shared_ptr<const Value>& Take(Entry& entry) {
    entry.used = true;
    return entry.value;
  }

  // The locks of all shards concerned are taken, in their order, so that none is taken twice. The analysis cannot
  // follow that.
  void FindTogether(absl::Span<const Hash128> keys,
                    absl::Span<std::shared_ptr<const Value>> values) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    std::array<bool, kShards> concerned{};
    for (const Hash128& key : keys) concerned[NumberOfShard(key)] = true;
    for (size_t i = 0; i < kShards; ++i) {
      if (concerned[i]) shards_[i].mutex.Lock();
    }
    for (const Hash128& key : keys) ShardOf(key).index.prefetch(key);
    std::array<Entry*, kTogether> entries{};
    for (size_t i = 0; i < keys.size(); ++i) {
      Shard& shard = ShardOf(keys[i]);
      const auto found = shard.index.find(keys[i]);
      if (found == shard.index.end()) continue;
      entries[i] = &*found->second;
      __builtin_prefetch(entries[i], /*write=*/1);
    }
    for (const Entry* entry : entries) {
      // std::make_shared puts the counters before the value.
      if (entry != nullptr) __builtin_prefetch(reinterpret_cast<const char*>(entry->value.get()) - 16, /*write=*/1);
    }
    int64_t hits = 0;
    for (size_t i = 0; i < keys.size(); ++i) {
      values[i] = entries[i] == nullptr ? nullptr : Take(*entries[i]);
      hits += entries[i] != nullptr ? 1 : 0;
    }
    for (size_t i = 0; i < kShards; ++i) {
      if (concerned[i]) shards_[i].mutex.Unlock();
    }
    hits_.fetch_add(hits, std::memory_order_relaxed);
    misses_.fetch_add(static_cast<int64_t>(keys.size()) - hits, std::memory_order_relaxed);
  }

  // REQUIRES: the shard has entries.
  void EvictOne(Shard& shard) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex) {
    while (true) {
      if (shard.hand == shard.ring.end()) shard.hand = shard.ring.begin();
      if (!shard.hand->used) break;
      shard.hand->used = false;
      ++shard.hand;
    }
    Erase(shard, shard.hand);
    evictions_.fetch_add(1, std::memory_order_relaxed);
  }

  void Erase(Shard& shard, typename Ring::iterator entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex) {
    shard.bytes -= entry->charge;
    shard.index.erase(entry->key);
    const bool at_hand = entry == shard.hand;
    const auto next = shard.ring.erase(entry);
    if (at_hand) shard.hand = next;
  }

  const int64_t capacity_bytes_;
  std::array<Shard, kShards> shards_;
  std::atomic<int64_t> hits_{0}, misses_{0}, evictions_{0};
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_CLOCK_CACHE_H_
