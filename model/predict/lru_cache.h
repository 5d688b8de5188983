// A sharded least-recently-used cache bounded in bytes. The charge of an entry is what it takes of the heap: its value,
// what the value holds, and the bookkeeping. When a shard exceeds its part of the capacity, its oldest entries are
// evicted. Each shard has its own mutex, so that requests for different layers seldom contend (the design of LevelDB's
// util/cache.cc, with shared_ptr instead of handles).
#ifndef COBRA_MODEL_PREDICT_LRU_CACHE_H_
#define COBRA_MODEL_PREDICT_LRU_CACHE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "base/hash.h"
#include "base/heap_bytes.h"
#include "model/predict/cache_stats.h"

namespace cobra::predict {

template <typename Value>
class LruCache {
 public:
  explicit LruCache(int64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  // Null when absent.
  std::shared_ptr<const Value> Find(const Hash128& key) {
    Shard& shard = ShardOf(key);
    absl::MutexLock lock(&shard.mutex);
    auto it = shard.index.find(key);
    if (it == shard.index.end()) {
      misses_.fetch_add(1, std::memory_order_relaxed);
      return nullptr;
    }
    hits_.fetch_add(1, std::memory_order_relaxed);
    shard.entries.splice(shard.entries.begin(), shard.entries, it->second);
    return it->second->value;
  }

  // `held_bytes`: what the value holds on the heap beside itself (base/heap_bytes.h). REQUIRES: std::make_shared made
  // the value.
  void Insert(const Hash128& key, std::shared_ptr<const Value> value, int64_t held_bytes) {
    Shard& shard = ShardOf(key);
    const int64_t charge = held_bytes + kEntryBytes;
    absl::MutexLock lock(&shard.mutex);
    if (auto it = shard.index.find(key); it != shard.index.end()) Erase(shard, it->second);
    shard.entries.push_front({key, std::move(value), charge});
    shard.index[key] = shard.entries.begin();
    shard.bytes += charge;
    while (shard.bytes > capacity_bytes_ / kShards && !shard.entries.empty()) {
      Erase(shard, std::prev(shard.entries.end()));
      evictions_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  // Forgets all entries; they do not count as evicted.
  void Clear() {
    for (Shard& shard : shards_) {
      std::list<Entry> entries;  // destroyed after the lock
      absl::MutexLock lock(&shard.mutex);
      entries.swap(shard.entries);
      shard.index.clear();
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
      s.entries += static_cast<int64_t>(shard.entries.size());
      s.bytes += shard.bytes;
    }
    return s;
  }

 private:
  static constexpr int kShards = 16;
  struct Entry {
    Hash128 key;
    std::shared_ptr<const Value> value;
    int64_t charge;
  };
  // The list's node with its two pointers; a slot of the map, which is between 7/16 and 7/8 full; the value behind the
  // counters of its shared_ptr.
  static constexpr int64_t kEntryBytes = MallocBytes(2 * sizeof(void*) + sizeof(Entry)) +
                                         3 * sizeof(std::pair<Hash128, void*>) / 2 +
                                         MallocBytes(2 * sizeof(void*) + sizeof(Value));
  struct Shard {
    absl::Mutex mutex;
    std::list<Entry> entries ABSL_GUARDED_BY(mutex);  // most recent first
    absl::flat_hash_map<Hash128, typename std::list<Entry>::iterator> index ABSL_GUARDED_BY(mutex);
    int64_t bytes ABSL_GUARDED_BY(mutex) = 0;
  };

  Shard& ShardOf(const Hash128& key) { return shards_[key.low % kShards]; }
  void Erase(Shard& shard, typename std::list<Entry>::iterator entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex) {
    shard.bytes -= entry->charge;
    shard.index.erase(entry->key);
    shard.entries.erase(entry);
  }

  const int64_t capacity_bytes_;
  std::array<Shard, kShards> shards_;
  std::atomic<int64_t> hits_{0}, misses_{0}, evictions_{0};
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_LRU_CACHE_H_
