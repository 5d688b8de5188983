// Finds the entries of a cache by 128-bit keys that are hashes. A slot has half of a key next to
// the address, so that a look-up waits for memory once for the table, and once for the entry.
// Linear probing; less than three quarters are full. Large tables use large pages if the kernel
// supports them; otherwise most look-ups would also wait for the page's address.
#ifndef COBRA_BASE_BYTES_ENTRY_TABLE_H_
#define COBRA_BASE_BYTES_ENTRY_TABLE_H_

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "base/bytes/hash.h"

namespace cobra {

// `Entry` has a member `Hash128 key`. Entries are not owned.
template <typename Entry>
class EntryTable {
 public:
  // Memory per entry in a table that is between three eighths and three quarters full.
  static constexpr int64_t kBytesPerEntry = 28;

  size_t size() const { return size_; }

  void Prefetch(const Hash128& key) const {
    if (size_ > 0) __builtin_prefetch(&slots_[HomeOf(key.high)]);
  }

  // Null when absent.
  Entry* Find(const Hash128& key) const {
    return FindIf(key, [&key](const Entry* entry) { return entry->key == key; });
  }

  // An entry whose slot has half of the key; the entry itself is not read. Seldom a different one
  // than Find() returns.
  Entry* FindHalf(const Hash128& key) const {
    return FindIf(key, [](const Entry*) { return true; });
  }

  // REQUIRES: no entry has its key.
  void Insert(Entry* entry) {
    if ((size_ + 1) * 4 > capacity() * 3) Grow();
    Place({entry->key.high, entry});
    ++size_;
  }

  // REQUIRES: the entry was inserted.
  void Erase(const Entry* entry) {
    size_t hole = HomeOf(entry->key.high);
    while (slots_[hole].entry != entry) hole = (hole + 1) & mask_;
    // The entries after it move up, unless that would put one before its home slot.
    for (size_t i = (hole + 1) & mask_; slots_[i].entry != nullptr; i = (i + 1) & mask_) {
      if (((i - HomeOf(slots_[i].half_key)) & mask_) < ((i - hole) & mask_)) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = {};
    --size_;
  }

  void Clear() {
    slots_ = nullptr;
    mask_ = size_ = 0;
  }

 private:
  struct Slot {
    uint64_t half_key = 0;
    Entry* entry = nullptr;  // null: free
  };
  struct Free {
    void operator()(Slot* slots) const { std::free(slots); }
  };

  size_t capacity() const { return slots_ == nullptr ? 0 : mask_ + 1; }
  // Multiplied, because the keys in tests are not hashes.
  size_t HomeOf(uint64_t half_key) const { return (half_key * 0x9E3779B97F4A7C15u >> 32) & mask_; }

  // Among the entries with that half of the key.
  template <typename Accepted>
  Entry* FindIf(const Hash128& key, const Accepted& accepted) const {
    if (size_ == 0) return nullptr;
    for (size_t i = HomeOf(key.high); slots_[i].entry != nullptr; i = (i + 1) & mask_) {
      if (slots_[i].half_key == key.high && accepted(slots_[i].entry)) return slots_[i].entry;
    }
    return nullptr;
  }

  void Place(const Slot& slot) {
    size_t i = HomeOf(slot.half_key);
    while (slots_[i].entry != nullptr) i = (i + 1) & mask_;
    slots_[i] = slot;
  }

  void Grow() {
    constexpr size_t kLeastSlots = 16, kLargePage = size_t{2} << 20;
    const std::unique_ptr<Slot[], Free> old = std::move(slots_);
    const size_t old_slots = old == nullptr ? 0 : mask_ + 1, num_slots = std::max(kLeastSlots, 2 * old_slots);
    const size_t bytes = num_slots * sizeof(Slot);
    slots_.reset(static_cast<Slot*>(std::aligned_alloc(bytes < kLargePage ? sizeof(Slot) : kLargePage, bytes)));
    if (slots_ == nullptr) throw std::bad_alloc();
    if (bytes >= kLargePage) ::madvise(slots_.get(), bytes, MADV_HUGEPAGE);  // a hint
    std::uninitialized_fill_n(slots_.get(), num_slots, Slot{});
    mask_ = num_slots - 1;
    for (size_t i = 0; i < old_slots; ++i) {
      if (old[i].entry != nullptr) Place(old[i]);
    }
  }

  std::unique_ptr<Slot[], Free> slots_;
  size_t mask_ = 0, size_ = 0;
};

}  // namespace cobra

#endif  // COBRA_BASE_BYTES_ENTRY_TABLE_H_
