// The hash table of dict and set: CPython's layout, entries in insertion order and an index of
// positions beside them. Keys are compared by identity, then as strings or small ints; anything
// else goes through the interpreter (__eq__ of a user class may run any code, or fail), which is
// why the general functions are in Interpreter (DictGet, DictSet, ...).
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_DICT_TABLE_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_DICT_TABLE_H_

#include <cstddef>
#include <cstdint>

#include "frontend/python/runtime/heap/heap.h"
#include "frontend/python/runtime/heap/value.h"

namespace cobra::python {

uint64_t HashOfText(absl::string_view text);  // never 0
// Of the text; computed once per StrObject.
inline uint64_t HashOfStr(const StrObject* s);

class DictTable {
 public:
  struct Entry {
    uint64_t hash;
    Value key;  // Unbound: a deleted entry
    Value value;
  };

  int64_t size() const { return live_; }
  // For iteration: for (size_t i = 0; i < t.entry_count(); ++i) if (!t.entry(i).key.IsUnbound())
  // ...
  size_t index_size() const { return index_size_; }
  size_t entry_count() const { return entries_.size(); }
  Entry& entry(size_t i) { return entries_[i]; }
  const Entry& entry(size_t i) const { return entries_[i]; }
  // Changes whenever a key is added or removed, so that an iteration can detect it.
  uint32_t version() const { return version_; }

  // Position of the key or -1.
  inline int64_t FindStr(const StrObject* key) const;
  // nullptr if absent. Valid until the table changes.
  inline Value* GetStr(const StrObject* key);
  // The same, with a guess of the key's position (from a table that was filled in the same order).
  // The guess is tried first and corrected; any initial value is valid.
  template <typename Guess>  // std::atomic<uint16_t>, shared by all interpreters
  inline Value* GetStr(const StrObject* key, Guess& guess);
  void SetStr(Heap& heap, StrObject* key, Value value);
  bool EraseStr(const StrObject* key);

  // The general steps, used by Interpreter. `same(entry key)` is called for entries of equal hash
  // that are not identical.
  template <typename Same>  // Result<bool>(Value)
  Result<int64_t> Find(Value key, uint64_t hash, Same same) const {
    if (index_size_ == 0) return int64_t{-1};
    size_t mask = index_size_ - 1;
    for (size_t i = hash & mask, perturb = hash;; i = (5 * i + 1 + (perturb >>= 5)) & mask) {
      int32_t at = index_[i];
      if (at == kEmpty) return int64_t{-1};
      if (at == kDeleted) continue;
      const Entry& e = entries_[static_cast<size_t>(at)];
      if (e.hash != hash) continue;
      if (e.key.IsSame(key)) return int64_t{at};
      uint32_t version = version_;
      Result<bool> equal = same(e.key);
      if (!equal.ok()) return Failure();
      if (version != version_) return Find(key, hash, same);  // __eq__ changed the table: start again
      if (*equal) return int64_t{at};
    }
  }
  void Append(Heap& heap, uint64_t hash, Value key, Value value);  // the key is known to be absent
  void EraseAt(int64_t position);
  void Clear();
  // The same keys at the same positions, without hashing any. REQUIRES: this table is new; `other`
  // holds no deleted entries.
  void CopyFrom(Heap& heap, const DictTable& other);
  void MoveToEnd(Heap& heap, int64_t position, bool last);

 private:
  static constexpr int32_t kEmpty = -1, kDeleted = -2;
  void Rebuild(Heap& heap, size_t index_size);
  int64_t FindStrFrom(const StrObject* key, uint64_t hash) const;
  size_t IndexOf(int64_t position) const;

  HeapVector<Entry> entries_;
  int32_t* index_ = nullptr;
  size_t index_size_ = 0;  // a power of two
  int64_t live_ = 0;
  uint32_t version_ = 0;
};

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_DICT_TABLE_H_
