#include "frontend/python/runtime/types/character.h"

#include <algorithm>
#include <iterator>

#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {
namespace {

struct PropertyRange {
  uint32_t first, last;
  uint16_t properties;
};
struct CaseMapping {
  uint32_t from, to;
};
struct FullCaseMapping {
  uint32_t from;
  const char* to;
};
#include "frontend/python/tables/character_tables.inc"

template <typename T>
struct Table {
  const T* begin;
  const T* end;
};
template <typename T, size_t n>
Table<T> TableOf(const T (&array)[n]) {
  return {array, array + n};
}

const PropertyRange* FindRange(uint32_t c) {
  const PropertyRange* r = std::upper_bound(std::begin(kPropertyRanges), std::end(kPropertyRanges), c,
                                            [](uint32_t x, const PropertyRange& range) { return x < range.first; });
  if (r == std::begin(kPropertyRanges)) return nullptr;
  --r;
  return c <= r->last ? r : nullptr;
}

template <typename T>
const T* FindMapping(Table<T> table, uint32_t c) {
  const T* m =
      std::lower_bound(table.begin, table.end, c, [](const T& mapping, uint32_t x) { return mapping.from < x; });
  return m != table.end && m->from == c ? m : nullptr;
}

Table<CaseMapping> SimpleTable(CaseKind kind) {
  switch (kind) {
    case CaseKind::kLower: return TableOf(kLower);
    case CaseKind::kUpper: return TableOf(kUpper);
    case CaseKind::kTitle: return TableOf(kTitle);
    case CaseKind::kFold: break;
  }
  return TableOf(kFold);
}
Table<FullCaseMapping> FullTable(CaseKind kind) {
  switch (kind) {
    case CaseKind::kLower: return TableOf(kFullLower);
    case CaseKind::kUpper: return TableOf(kFullUpper);
    case CaseKind::kTitle: return TableOf(kFullTitle);
    case CaseKind::kFold: break;
  }
  return TableOf(kFullFold);
}

}  // namespace

uint16_t CharacterProperties(uint32_t c) {
  const PropertyRange* r = FindRange(c);
  return r == nullptr ? uint16_t{0} : r->properties;
}

int DecimalDigit(uint32_t c) {
  // Decimal digits come in runs of ten, from zero.
  const PropertyRange* r = FindRange(c);
  return r == nullptr ? 0 : static_cast<int>((c - r->first) % 10);
}

uint32_t SimpleCase(CaseKind kind, uint32_t c) {
  if (c < 0x80) {
    bool lower = kind == CaseKind::kLower || kind == CaseKind::kFold;
    if (lower && c >= 'A' && c <= 'Z') return c + 32;
    if (!lower && c >= 'a' && c <= 'z') return c - 32;
    return c;
  }
  const CaseMapping* m = FindMapping(SimpleTable(kind), c);
  return m == nullptr ? c : m->to;
}

void AppendCase(CaseKind kind, uint32_t c, std::string* out) {
  if (c >= 0x80) {
    const FullCaseMapping* full = FindMapping(FullTable(kind), c);
    if (full != nullptr) {
      out->append(full->to);
      return;
    }
  }
  AppendUtf8(out, SimpleCase(kind, c));
}

}  // namespace cobra::python
