// A sharded cache bounded in bytes. The charge of an entry is its heap memory: its value, what the
// value holds, and the bookkeeping. When a shard exceeds its part of the capacity, the clock
// algorithm evicts entries: they form a ring, and a rotating hand spares entries that were found
// since its last visit. Unlike in an LRU list, a look-up writes only to its own entry. Look-ups
// take no lock; each shard has its own mutex, so that insertions seldom contend.
#ifndef COBRA_BASE_BYTES_CLOCK_CACHE_H_
#define COBRA_BASE_BYTES_CLOCK_CACHE_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "base/bytes/cache_stats.h"
#include "base/bytes/entry_table.h"
#include "base/bytes/hash.h"
#include "base/bytes/heap_bytes.h"
#include "base/bytes/read_section.h"

namespace cobra {

template <typename Value>
class ClockCache {
 public:
  explicit ClockCache(int64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}
  ~ClockCache() { Clear(); }

  // Null when absent, as is what another thread replaces at this moment.
  std::shared_ptr<const Value> Find(const Hash128& key) {
    std::shared_ptr<const Value> value;
    {
      const ReadSection section;
      if (!section.is_open()) {
        FindWithLocks({&key, 1}, {&value, 1});
      } else if (Entry* const entry = FindBesideChanges(key)) {
        value = Take(entry);
      }
    }
    (value == nullptr ? misses_ : hits_).fetch_add(1, std::memory_order_relaxed);
    return value;
  }

  // A value for each key; null when absent. Among a million entries nearly every step of a look-up
  // waits for memory: so many look-ups wait for it together. REQUIRES: as many values as keys.
  void FindMany(absl::Span<const Hash128> keys, absl::Span<std::shared_ptr<const Value>> values) {
    int64_t hits = 0;
    for (size_t first = 0; first < keys.size(); first += kTogether)
      hits += FindTogether(keys.subspan(first, kTogether), values.subspan(first, kTogether));
    hits_.fetch_add(hits, std::memory_order_relaxed);
    misses_.fetch_add(static_cast<int64_t>(keys.size()) - hits, std::memory_order_relaxed);
  }

  // `held_bytes`: what the value holds on the heap in addition to its own size
  // (base/bytes/heap_bytes.h). A value larger than a shard is returned but not kept.
  std::shared_ptr<const Value> Insert(const Hash128& key, Value value, int64_t held_bytes) {
    const int64_t charge = held_bytes + kEntryBytes, capacity = capacity_bytes_ / kShards;
    const auto entry = std::make_shared<Entry>(key, charge, std::move(value));
    entry->self = entry;
    std::shared_ptr<const Value> result(entry, &entry->value);
    std::vector<std::shared_ptr<Entry>> unseen;  // freed after the lock
    Shard& shard = ShardOf(key);
    absl::MutexLock lock(&shard.mutex);
    if (Entry* const old = shard.table.Find(key)) Erase(shard, old);
    if (charge > capacity) {
      unseen.push_back(std::move(entry->self));
      return result;
    }
    while (shard.bytes + charge > capacity) EvictOne(shard);
    InsertBeforeHand(shard, entry.get());
    shard.bytes += charge;
    shard.table.Insert(entry.get());
    if (shard.unlinked.size() >= kUnlinked) unseen = TakeUnseen(shard);
    return result;
  }

  // Drops all entries; they do not count as evicted.
  void Clear() {
    for (Shard& shard : shards_) {
      for (bool is_empty = false; !is_empty;) {  // soon: sections are short
        std::vector<std::shared_ptr<Entry>> unseen;
        absl::MutexLock lock(&shard.mutex);
        shard.table.Clear();
        while (shard.hand != nullptr) Unlink(shard, shard.hand);
        unseen = TakeUnseen(shard);
        is_empty = shard.unlinked.empty();
      }
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
      s.entries += static_cast<int64_t>(shard.table.size());
      s.bytes += shard.bytes;
    }
    return s;
  }

 private:
  static constexpr size_t kShards = 16;
  static constexpr size_t kTogether = 64;  // of FindMany()
  static constexpr size_t kUnlinked = 8;   // evicted entries of a shard, which wait for readers together
  // What a look-up touches comes first, after the counters of the shared_ptr.
  struct Entry {
    Entry(const Hash128& key, int64_t charge, Value value) : key(key), charge(charge), value(std::move(value)) {}

    const Hash128 key;
    std::shared_ptr<Entry> self;    // while the entry is in the cache
    std::atomic<bool> used{false};  // since the hand's last visit
    const int64_t charge;
    Entry *previous = nullptr, *next = nullptr;  // of the ring
    const Value value;
  };
  static constexpr size_t kCounterBytes = 2 * sizeof(void*);  // of a shared_ptr, before what std::make_shared makes
  static constexpr int64_t kEntryBytes = MallocBytes(kCounterBytes + sizeof(Entry)) + EntryTable<Entry>::kBytesPerEntry;
  struct Shard {
    absl::Mutex mutex;
    EntryTable<Entry> table;                       // changes under the mutex
    Entry* hand ABSL_GUARDED_BY(mutex) = nullptr;  // the next candidate for eviction; null: no entries
    int64_t bytes ABSL_GUARDED_BY(mutex) = 0;
    std::vector<std::pair<uint64_t, Entry*>> unlinked ABSL_GUARDED_BY(mutex);  // by UnlinkEpoch(), in order
  };

  Shard& ShardOf(const Hash128& key) { return shards_[key.low % kShards]; }

  static std::shared_ptr<const Value> Take(Entry* entry) {
    if (!entry->used.load(std::memory_order_relaxed)) entry->used.store(true, std::memory_order_relaxed);
    return std::shared_ptr<const Value>(entry->self, &entry->value);
  }

  // Returns how many were found.
  int64_t FindTogether(absl::Span<const Hash128> keys, absl::Span<std::shared_ptr<const Value>> values) {
    const ReadSection section;
    if (!section.is_open()) return FindWithLocks(keys, values);
    std::array<Entry*, kTogether> entries;
    for (const Hash128& key : keys) ShardOf(key).table.Prefetch(key);
    for (size_t i = 0; i < keys.size(); ++i) {
      entries[i] = ShardOf(keys[i]).table.FindHalf(keys[i]);
      if (entries[i] == nullptr) continue;
      const char* const counters = reinterpret_cast<const char*>(entries[i]) - kCounterBytes;
      __builtin_prefetch(counters, /*write=*/1);
      __builtin_prefetch(reinterpret_cast<const char*>(&entries[i]->used), /*write=*/1);
    }
    int64_t hits = 0;
    for (size_t i = 0; i < keys.size(); ++i) {
      if (entries[i] == nullptr || entries[i]->key != keys[i]) entries[i] = FindBesideChanges(keys[i]);
      values[i] = entries[i] == nullptr ? nullptr : Take(entries[i]);
      hits += entries[i] != nullptr ? 1 : 0;
    }
    return hits;
  }

  // REQUIRES: within a section.
  Entry* FindBesideChanges(const Hash128& key) {
    Shard& shard = ShardOf(key);
    const uint64_t changes = shard.table.changes();
    Entry* const entry = shard.table.Find(key);
    if (entry != nullptr || (changes % 2 == 0 && shard.table.changes() == changes)) return entry;
    absl::MutexLock lock(&shard.mutex);
    return shard.table.Find(key);
  }

  int64_t FindWithLocks(absl::Span<const Hash128> keys, absl::Span<std::shared_ptr<const Value>> values) {
    int64_t hits = 0;
    for (size_t i = 0; i < keys.size(); ++i) {
      Shard& shard = ShardOf(keys[i]);
      absl::MutexLock lock(&shard.mutex);
      Entry* const entry = shard.table.Find(keys[i]);
      values[i] = entry == nullptr ? nullptr : Take(entry);
      hits += entry != nullptr ? 1 : 0;
    }
    return hits;
  }

  // The hand reaches it last.
  static void InsertBeforeHand(Shard& shard, Entry* entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex) {
    if (shard.hand == nullptr) shard.hand = entry->previous = entry->next = entry;
    entry->next = shard.hand;
    entry->previous = shard.hand->previous;
    entry->previous->next = entry->next->previous = entry;
  }

  // REQUIRES: the shard has entries.
  void EvictOne(Shard& shard) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex) {
    for (; shard.hand->used.load(std::memory_order_relaxed); shard.hand = shard.hand->next)
      shard.hand->used.store(false, std::memory_order_relaxed);
    Erase(shard, shard.hand);
    evictions_.fetch_add(1, std::memory_order_relaxed);
  }

  static void Erase(Shard& shard, Entry* entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex) {
    shard.table.Erase(entry);
    Unlink(shard, entry);
  }

  // REQUIRES: it is no longer in the table.
  static void Unlink(Shard& shard, Entry* entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex) {
    shard.bytes -= entry->charge;
    if (shard.hand == entry) shard.hand = entry->next == entry ? nullptr : entry->next;
    entry->previous->next = entry->next;
    entry->next->previous = entry->previous;
    shard.unlinked.emplace_back(UnlinkEpoch(), entry);
  }

  // The unlinked entries that no section can see any more.
  static std::vector<std::shared_ptr<Entry>> TakeUnseen(Shard& shard) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex) {
    const uint64_t oldest = OldestReadEpoch();
    size_t count = 0;
    while (count < shard.unlinked.size() && shard.unlinked[count].first < oldest) ++count;
    std::vector<std::shared_ptr<Entry>> unseen;
    unseen.reserve(count);
    for (size_t i = 0; i < count; ++i) unseen.push_back(std::move(shard.unlinked[i].second->self));
    shard.unlinked.erase(shard.unlinked.begin(), shard.unlinked.begin() + static_cast<ptrdiff_t>(count));
    return unseen;
  }

  const int64_t capacity_bytes_;
  std::array<Shard, kShards> shards_;
  std::atomic<int64_t> hits_{0}, misses_{0}, evictions_{0};
};

}  // namespace cobra

#endif  // COBRA_BASE_BYTES_CLOCK_CACHE_H_
