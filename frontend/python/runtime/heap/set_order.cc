// Follows Objects/setobject.c: linear probing in groups of ten, growth at three fifths, deleted
// keys keep their slots.
#include "frontend/python/runtime/heap/set_order.h"

#include <algorithm>
#include <utility>

namespace cobra::python {
namespace {

constexpr size_t kLinearProbes = 9;
constexpr uint32_t kSmallestMask = 7;

uint32_t MaskFor(int64_t more_than) {
  uint64_t size = kSmallestMask + 1;
  while (size <= static_cast<uint64_t>(more_than)) size <<= 1;
  return static_cast<uint32_t>(size - 1);
}

// Whether the value is a number, or a tuple or frozenset of such values.
bool HasFixedHash(Value v, int depth = 0) {
  constexpr int kDeepest = 8;
  if (!v.IsObject()) return v.IsIntOrBool() || v.IsFloat();
  const Object* o = v.object();
  if (!o->cls->is_native || depth > kDeepest) return false;
  if (v.IsSet()) return v.as<SetObject>()->only_numbers;
  if (!v.IsTuple()) return v.IsBigInt() || v.IsComplex();
  const absl::Span<const Value> items = v.as<TupleObject>()->span();
  return std::all_of(items.begin(), items.end(), [&](Value item) { return HasFixedHash(item, depth + 1); });
}

// CPython reserves -1 as an error code: no key hashes to it.
uint64_t SetHash(uint64_t hash) { return hash == ~uint64_t{0} ? ~uint64_t{1} : hash; }

// Calls visit(slot) along the probe sequence until it returns true.
template <typename Visit>
void Probe(const SetObject& set, uint64_t hash, Visit visit) {
  size_t i = hash & set.mask;
  uint64_t perturb = hash;
  while (true) {
    size_t probes = i + kLinearProbes <= set.mask ? kLinearProbes : 0;
    for (size_t k = 0; k <= probes; ++k) {
      if (visit(i + k)) return;
    }
    perturb >>= 5;
    i = (i * 5 + 1 + perturb) & set.mask;
  }
}

// Puts the key in the first empty slot, or in the last deleted slot before it. True if the slot was
// empty before.
bool Place(SetObject* set, SetSlot slot) {
  SetSlot* place = nullptr;
  bool fresh = false;
  Probe(*set, slot.hash, [&](size_t i) {
    SetSlot& s = set->slots[i];
    if (s.state == SetSlot::State::kDeleted) place = &s;
    if (s.state != SetSlot::State::kEmpty) return false;
    fresh = place == nullptr;
    if (fresh) place = &s;
    return true;
  });
  *place = slot;
  return fresh;
}

void Resize(Heap& heap, SetObject* set, int64_t more_than) {
  HeapVector<SetSlot> old = set->slots;
  set->slots = HeapVector<SetSlot>();
  set->mask = MaskFor(more_than);
  set->slots.resize(heap, size_t{set->mask} + 1);
  set->fill = 0;
  for (const SetSlot& slot : old) {
    if (slot.state != SetSlot::State::kUsed) continue;
    Place(set, slot);
    ++set->fill;
  }
  old.release(heap);
}

}  // namespace

void NoteSetAdd(Heap& heap, SetObject* set, uint64_t hash, Value key) {
  if (!set->only_numbers) return;
  if (!HasFixedHash(key)) {
    set->only_numbers = false;
    set->slots.release(heap);
    return;
  }
  if (set->slots.empty()) set->slots.resize(heap, size_t{set->mask} + 1);
  if (!Place(set, {SetSlot::State::kUsed, SetHash(hash), key})) return;
  ++set->fill;
  if (set->fill * 5 < int64_t{set->mask} * 3) return;
  int64_t used = set->table.size();
  Resize(heap, set, used > 50'000 ? used * 2 : used * 4);
}

void NoteSetErase(SetObject* set, uint64_t hash, Value key) {
  if (!set->only_numbers) return;
  hash = SetHash(hash);
  Probe(*set, hash, [&](size_t i) {
    SetSlot& slot = set->slots[i];
    if (slot.state == SetSlot::State::kEmpty) return true;  // the key is not in the set
    if (slot.state != SetSlot::State::kUsed || slot.hash != hash || !slot.key.IsSame(key)) return false;
    slot.state = SetSlot::State::kDeleted;
    return true;
  });
}

void NoteSetDifference(Heap& heap, SetObject* set) {
  int64_t used = set->table.size();
  if (set->only_numbers && set->fill - used > int64_t{set->mask} / 4)
    Resize(heap, set, used > 50'000 ? used * 2 : used * 4);
}

void NoteSetMerge(Heap& heap, SetObject* into, int64_t keys) {
  if (!into->only_numbers || (into->fill + keys) * 5 < int64_t{into->mask} * 3) return;
  Resize(heap, into, (into->table.size() + keys) * 2);
}

bool SetCopiesTable(const SetObject& into, const SetObject& from) {
  return into.fill == 0 && into.only_numbers && from.only_numbers && into.mask == from.mask &&
         from.fill == from.table.size();
}

void CopySetTable(Heap& heap, SetObject* into, const SetObject& from) {
  into->slots.assign(heap, from.slots);
  into->fill = from.fill;
}

void ClearSet(SetObject* set) {
  set->table.Clear();
  set->slots.clear();
  set->only_numbers = true;
  set->mask = kSmallestMask;
  set->fill = 0;
}

void SwapSets(SetObject* a, SetObject* b) {
  std::swap(a->table, b->table);
  std::swap(a->slots, b->slots);
  std::swap(a->only_numbers, b->only_numbers);
  std::swap(a->mask, b->mask);
  std::swap(a->fill, b->fill);
}

std::vector<Value> SetItems(const SetObject& set) {
  std::vector<Value> items;
  items.reserve(static_cast<size_t>(set.table.size()));
  if (set.only_numbers) {
    for (const SetSlot& slot : set.slots) {
      if (slot.state == SetSlot::State::kUsed) items.push_back(slot.key);
    }
    return items;
  }
  for (size_t i = 0; i < set.table.entry_count(); ++i) {
    if (!set.table.entry(i).key.IsUnbound()) items.push_back(set.table.entry(i).key);
  }
  return items;
}

}  // namespace cobra::python
