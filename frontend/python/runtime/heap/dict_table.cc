#include "frontend/python/runtime/heap/dict_table.h"

#include "frontend/python/runtime/heap/object.h"

namespace cobra::python {

uint64_t HashOfText(absl::string_view text) {
  // FNV-1a over 8-byte words with a final mix: short names dominate.
  uint64_t h = 0xcbf29ce484222325u ^ static_cast<uint64_t>(text.size());
  const char* p = text.data();
  int64_t n = static_cast<int64_t>(text.size());
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t w;
    std::memcpy(&w, p, 8);
    h = (h ^ w) * 0x9fb21c651e98df25u;
    h ^= h >> 32;
  }
  uint64_t w = 0;
  if (n > 0) std::memcpy(&w, p, static_cast<size_t>(n));  // the data of an empty text may be null
  h = (h ^ w) * 0x9fb21c651e98df25u;
  h ^= h >> 29;
  h *= 0xbf58476d1ce4e5b9u;
  h ^= h >> 32;
  h >>= 4;  // below 2^60, so that hash() of a string is an int that hashes to itself
  return h == 0 ? 1 : h;
}

namespace {
bool SameStr(Value key, const StrObject* s) {
  if (!key.IsStr()) return false;
  const StrObject* k = key.as<StrObject>();
  if (k == s) return true;
  if (k->interned && s->interned) return false;
  return k->size == s->size && std::memcmp(k->data, s->data, static_cast<size_t>(s->size)) == 0;
}

int Log2IndexBytes(size_t index_size) {
  int log2 = 0;
  while ((size_t{1} << log2) < index_size * sizeof(int32_t)) ++log2;
  return log2;
}
}  // namespace

int64_t DictTable::FindStrFrom(const StrObject* key, uint64_t hash) const {
  size_t mask = index_size_ - 1;
  for (size_t i = hash & mask, perturb = hash;; i = (5 * i + 1 + (perturb >>= 5)) & mask) {
    int32_t at = index_[i];
    if (at == kEmpty) return -1;
    if (at == kDeleted) continue;
    const Entry& e = entries_[static_cast<size_t>(at)];
    if (e.hash == hash && SameStr(e.key, key)) return at;
  }
}

void DictTable::SetStr(Heap& heap, StrObject* key, Value value) {
  int64_t at = FindStr(key);
  if (at >= 0) {
    entries_[static_cast<size_t>(at)].value = value;
    return;
  }
  Append(heap, HashOfStr(key), Value(key), value);
}

bool DictTable::EraseStr(const StrObject* key) {
  int64_t at = FindStr(key);
  if (at < 0) return false;
  EraseAt(at);
  return true;
}

void DictTable::Append(Heap& heap, uint64_t hash, Value key, Value value) {
  // At most two thirds of the index is in use, deleted marks included.
  if (3 * (entries_.size() + 1) > 2 * index_size_) {
    size_t want = 8;
    while (2 * want < 3 * (static_cast<size_t>(live_) * 2 + 1)) want *= 2;
    Rebuild(heap, want);
  }
  size_t mask = index_size_ - 1;
  size_t i = hash & mask;
  // The key is absent: it may take the place of an erased one. Otherwise erasing and adding a key
  // again and again makes the way to it longer and longer.
  for (size_t perturb = hash; index_[i] != kEmpty && index_[i] != kDeleted; i = (5 * i + 1 + (perturb >>= 5)) & mask) {
  }
  index_[i] = static_cast<int32_t>(entries_.size());
  if (entries_.empty()) entries_.reserve(heap, 3);
  entries_.push_back(heap, Entry{hash, key, value});
  ++live_;
  ++version_;
}

// Drops deleted entries and rebuilds the index.
void DictTable::Rebuild(Heap& heap, size_t index_size) {
  size_t kept = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].key.IsUnbound()) continue;
    if (kept != i) entries_[kept] = entries_[i];
    ++kept;
  }
  while (entries_.size() > kept) entries_.pop_back();
  if (index_size != index_size_) {
    if (index_ != nullptr) heap.FreeBlock(index_, Log2IndexBytes(index_size_));
    index_ = static_cast<int32_t*>(heap.AllocateBlock(Log2IndexBytes(index_size)));
    index_size_ = index_size;
  }
  for (size_t i = 0; i < index_size_; ++i) index_[i] = kEmpty;
  size_t mask = index_size_ - 1;
  for (size_t at = 0; at < entries_.size(); ++at) {
    uint64_t hash = entries_[at].hash;
    size_t i = hash & mask;
    for (size_t perturb = hash; index_[i] != kEmpty; i = (5 * i + 1 + (perturb >>= 5)) & mask) {
    }
    index_[i] = static_cast<int32_t>(at);
  }
}

size_t DictTable::IndexOf(int64_t position) const {
  uint64_t hash = entries_[static_cast<size_t>(position)].hash;
  size_t mask = index_size_ - 1;
  size_t i = hash & mask;
  for (size_t perturb = hash; index_[i] != position; i = (5 * i + 1 + (perturb >>= 5)) & mask) {
  }
  return i;
}

void DictTable::EraseAt(int64_t position) {
  index_[IndexOf(position)] = kDeleted;
  Entry& e = entries_[static_cast<size_t>(position)];
  e.key = Value::Unbound();
  e.value = Value::Unbound();
  --live_;
  ++version_;
}

void DictTable::Clear() {
  for (size_t i = 0; i < index_size_; ++i) index_[i] = kEmpty;
  entries_.clear();
  live_ = 0;
  ++version_;
}

void DictTable::CopyFrom(Heap& heap, const DictTable& other) {
  entries_.copy(heap, other.entries_);
  if (other.index_ != nullptr) {
    index_ = static_cast<int32_t*>(heap.AllocateBlock(Log2IndexBytes(other.index_size_)));
    std::memcpy(index_, other.index_, other.index_size_ * sizeof(int32_t));
  }
  index_size_ = other.index_size_;
  live_ = other.live_;
  version_ = 1;
}

void DictTable::MoveToEnd(Heap& heap, int64_t position, bool last) {
  Entry e = entries_[static_cast<size_t>(position)];
  EraseAt(position);
  if (last) {
    Append(heap, e.hash, e.key, e.value);
    return;
  }
  entries_.insert(heap, 0, e);
  ++live_;
  Rebuild(heap, index_size_ * (3 * (entries_.size() + 1) > 2 * index_size_ ? 2 : 1));
}

}  // namespace cobra::python
