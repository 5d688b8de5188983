// After Objects/setobject.c: linear probing in groups of ten, growth at three fifths, deleted keys stay in the way.
#include "frontend/python/runtime/set_order.h"

#include <utility>

namespace cobra::python {
namespace {

constexpr size_t kLinearProbes = 9;

uint32_t MaskFor(int64_t more_than) {
  uint64_t size = 8;
  while (size <= static_cast<uint64_t>(more_than)) size <<= 1;
  return static_cast<uint32_t>(size - 1);
}

// -1 is CPython's mark for an error: no key hashes to it.
uint64_t HashAt(const DictTable& table, size_t position) {
  uint64_t hash = table.entry(position).hash;
  return hash == ~uint64_t{0} ? ~uint64_t{1} : hash;
}

class Slots {
 public:
  explicit Slots(uint32_t mask) : mask_(mask), slots_(size_t{mask} + 1, -1) {}
  uint32_t mask() const { return mask_; }

  void Insert(int32_t position, uint64_t hash) {
    size_t i = hash & mask_;
    uint64_t perturb = hash;
    while (true) {
      size_t probes = i + kLinearProbes <= mask_ ? kLinearProbes : 0;
      for (size_t k = 0; k <= probes; ++k) {
        if (slots_[i + k] < 0) {
          slots_[i + k] = position;
          return;
        }
      }
      perturb >>= 5;
      i = (i * 5 + 1 + perturb) & mask_;
    }
  }
  void Resize(uint32_t mask, const DictTable& table) {
    Slots bigger(mask);
    for (int32_t p : slots_) {
      if (p >= 0) bigger.Insert(p, HashAt(table, static_cast<size_t>(p)));
    }
    *this = std::move(bigger);
  }
  const std::vector<int32_t>& slots() const { return slots_; }

 private:
  uint32_t mask_;
  std::vector<int32_t> slots_;
};

bool IsNumber(Value v) { return v.IsIntOrBool() || v.IsFloat(); }

uint32_t Grown(int64_t used) { return MaskFor(used > 50'000 ? used * 2 : used * 4); }

}  // namespace

void NoteSetGrowth(SetObject* set) {
  ++set->fill;
  if (set->fill * 5 < int64_t{set->mask} * 3) return;
  set->mask = Grown(set->table.size());
  set->fill = set->table.size();
}

void NoteSetMerge(SetObject* into, int64_t keys) {
  if ((into->fill + keys) * 5 < int64_t{into->mask} * 3) return;
  into->mask = MaskFor((into->table.size() + keys) * 2);
  into->fill = into->table.size();
  if (into->table.size() == 0) into->initial_mask = into->mask;
}

void ClearSet(SetObject* set) {
  set->table.Clear();
  set->mask = set->initial_mask = 7;
  set->fill = 0;
}

void SwapSets(SetObject* a, SetObject* b) {
  std::swap(a->table, b->table);
  std::swap(a->mask, b->mask);
  std::swap(a->initial_mask, b->initial_mask);
  std::swap(a->fill, b->fill);
}

std::vector<size_t> SetOrder(const SetObject& set) {
  std::vector<size_t> live;
  bool numbers = true;
  for (size_t i = 0; i < set.table.entry_count(); ++i) {
    Value key = set.table.entry(i).key;
    if (key.IsUnbound()) continue;
    live.push_back(i);
    numbers = numbers && IsNumber(key);
  }
  if (!numbers || live.size() < 2) return live;
  Slots slots(set.initial_mask);
  int64_t used = 0;
  for (size_t i : live) {
    slots.Insert(static_cast<int32_t>(i), HashAt(set.table, i));
    if (++used * 5 >= int64_t{slots.mask()} * 3) slots.Resize(Grown(used), set.table);
  }
  if (slots.mask() != set.mask) slots.Resize(set.mask, set.table);  // keys came and went
  std::vector<size_t> order;
  order.reserve(live.size());
  for (int32_t p : slots.slots()) {
    if (p >= 0) order.push_back(static_cast<size_t>(p));
  }
  return order;
}

std::vector<Value> SetItems(const SetObject& set) {
  std::vector<Value> items;
  for (size_t i : SetOrder(set)) items.push_back(set.table.entry(i).key);
  return items;
}

}  // namespace cobra::python
