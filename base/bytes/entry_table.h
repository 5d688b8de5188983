// Finds the entries of a cache by 128-bit keys that are hashes. A slot has half of a key next to
// the address, so that a look-up waits for memory once for the table, and once for the entry.
// Linear probing; less than three quarters are full. Large tables use large pages if the kernel
// supports them; otherwise most look-ups would also wait for the page's address.
//
// One thread at a time changes a table. Look-ups may run meanwhile within a ReadSection.
#ifndef COBRA_BASE_BYTES_ENTRY_TABLE_H_
#define COBRA_BASE_BYTES_ENTRY_TABLE_H_

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/bytes/hash.h"
#include "base/bytes/read_section.h"

namespace cobra {

// `Entry` has a member `Hash128 key`. Entries are not owned.
template <typename Entry>
class EntryTable {
 public:
  // Memory per entry in a table that is between three eighths and three quarters full.
  static constexpr int64_t kBytesPerEntry = 28;

  ~EntryTable() { delete slots_.load(std::memory_order_relaxed); }

  // REQUIRES: no thread changes the table.
  size_t size() const { return size_; }

  void Prefetch(const Hash128& key) const {
    if (const Slots* const slots = slots_.load(); slots != nullptr)
      __builtin_prefetch(&slots->first[slots->HomeOf(key.high)]);
  }

  // Null when absent; or, beside a thread that changes the table, if changes() is not the same
  // afterwards.
  Entry* Find(const Hash128& key) const {
    return FindIf(key, [&key](const Entry* entry) { return entry->key == key; });
  }

  // An entry whose slot has half of the key; the entry itself is not read. Seldom a different one
  // than Find() returns.
  Entry* FindHalf(const Hash128& key) const {
    return FindIf(key, [](const Entry*) { return true; });
  }

  // Odd while entries move.
  uint64_t changes() const { return changes_.load(std::memory_order_acquire); }

  // REQUIRES: no entry has its key.
  void Insert(Entry* entry) {
    if (!replaced_.empty()) FreeReplaced();
    Slots* slots = slots_.load(std::memory_order_relaxed);
    const size_t capacity = slots == nullptr ? 0 : slots->mask + 1;
    if ((size_ + 1) * 4 > capacity * 3) slots = Grow(slots);
    slots->Place(entry->key.high, entry);
    ++size_;
  }

  // REQUIRES: the entry was inserted.
  void Erase(const Entry* entry) {
    const Slots& slots = *slots_.load(std::memory_order_relaxed);
    changes_.fetch_add(1);
    size_t hole = slots.HomeOf(entry->key.high);
    while (slots.first[hole].entry.load(std::memory_order_relaxed) != entry) hole = (hole + 1) & slots.mask;
    // The entries after it move up, unless that would put one before its home slot.
    for (size_t i = (hole + 1) & slots.mask;; i = (i + 1) & slots.mask) {
      Entry* const moving = slots.first[i].entry.load(std::memory_order_relaxed);
      if (moving == nullptr) break;
      const uint64_t half_key = slots.first[i].half_key.load(std::memory_order_relaxed);
      if (((i - slots.HomeOf(half_key)) & slots.mask) < ((i - hole) & slots.mask)) continue;
      slots.first[hole].Set(half_key, moving);
      hole = i;
    }
    slots.first[hole].Set(0, nullptr);
    --size_;
    changes_.fetch_add(1);
  }

  // What was the table may still be read.
  void Clear() {
    Replace(nullptr);
    size_ = 0;
  }

 private:
  struct Slot {
    std::atomic<uint64_t> half_key{0};
    std::atomic<Entry*> entry{nullptr};  // null: free

    // Sequentially consistent, as the look-up is: read_section.h.
    void Set(uint64_t half, Entry* of) {
      half_key.store(half, std::memory_order_relaxed);
      entry.store(of);
    }
  };
  struct Slots {
    explicit Slots(size_t count) : mask(count - 1) {
      constexpr size_t kLargePage = size_t{2} << 20;
      const size_t bytes = count * sizeof(Slot);
      first = static_cast<Slot*>(std::aligned_alloc(bytes < kLargePage ? sizeof(Slot) : kLargePage, bytes));
      if (first == nullptr) throw std::bad_alloc();
      if (bytes >= kLargePage) ::madvise(first, bytes, MADV_HUGEPAGE);  // a hint
      std::uninitialized_default_construct_n(first, count);
    }
    ~Slots() { std::free(first); }
    Slots(const Slots&) = delete;
    Slots& operator=(const Slots&) = delete;

    // Multiplied, because the keys in tests are not hashes.
    size_t HomeOf(uint64_t half_key) const { return (half_key * 0x9E3779B97F4A7C15u >> 32) & mask; }

    void Place(uint64_t half_key, Entry* entry) {
      size_t i = HomeOf(half_key);
      while (first[i].entry.load(std::memory_order_relaxed) != nullptr) i = (i + 1) & mask;
      first[i].Set(half_key, entry);
    }

    const size_t mask;
    Slot* first;
  };

  // Among the entries with that half of the key.
  template <typename Accepted>
  Entry* FindIf(const Hash128& key, const Accepted& accepted) const {
    const Slots* const slots = slots_.load();
    if (slots == nullptr) return nullptr;
    for (size_t i = slots->HomeOf(key.high);; i = (i + 1) & slots->mask) {
      Entry* const entry = slots->first[i].entry.load();
      if (entry == nullptr) return nullptr;
      if (slots->first[i].half_key.load(std::memory_order_relaxed) == key.high && accepted(entry)) return entry;
    }
  }

  Slots* Grow(const Slots* old) {
    constexpr size_t kLeastSlots = 16;
    const size_t old_slots = old == nullptr ? 0 : old->mask + 1;
    auto slots = std::make_unique<Slots>(std::max(kLeastSlots, 2 * old_slots));
    for (size_t i = 0; i < old_slots; ++i) {
      Entry* const entry = old->first[i].entry.load(std::memory_order_relaxed);
      if (entry != nullptr) slots->Place(old->first[i].half_key.load(std::memory_order_relaxed), entry);
    }
    Slots* const result = slots.get();
    Replace(std::move(slots));
    return result;
  }

  void Replace(std::unique_ptr<Slots> slots) {
    std::unique_ptr<Slots> old(slots_.exchange(slots.release()));
    if (old != nullptr) replaced_.emplace_back(UnlinkEpoch(), std::move(old));
    FreeReplaced();
  }
  void FreeReplaced() {
    const uint64_t oldest = OldestReadEpoch();
    replaced_.erase(std::remove_if(replaced_.begin(), replaced_.end(),
                                   [oldest](const auto& replaced) { return replaced.first < oldest; }),
                    replaced_.end());
  }

  std::atomic<Slots*> slots_{nullptr};  // owned
  std::atomic<uint64_t> changes_{0};
  size_t size_ = 0;
  std::vector<std::pair<uint64_t, std::unique_ptr<Slots>>> replaced_;  // by UnlinkEpoch()
};

}  // namespace cobra

#endif  // COBRA_BASE_BYTES_ENTRY_TABLE_H_
