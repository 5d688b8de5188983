// Sorting, with CPython's comparisons where they determine the result.
#include <algorithm>
#include <utility>
#include <vector>

#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {
namespace {

using KeyedValues = std::vector<std::pair<Value, Value>>;

// Makes the run at the beginning ascending, then inserts each following value into its place among
// the values before it. CPython makes the same comparisons for fewer than 64 values. They determine
// the result if `<` is not an order (sets, the program's own classes) or fails.
Result<void> InsertionSort(Interpreter& interp, KeyedValues& v) {
  if (v.size() < 2) return {};
  const auto less = [&](size_t i, size_t j) { return LessThan(interp, v[i].first, v[j].first); };
  COBRA_TRY_ASSIGN(const bool descending, less(1, 0));
  size_t run = 2;
  for (; run < v.size(); ++run) {
    COBRA_TRY(interp.Step());
    COBRA_TRY_ASSIGN(bool goes_down, less(run, run - 1));
    if (goes_down != descending) break;
  }
  if (descending) std::reverse(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(run));
  for (size_t start = run; start < v.size(); ++start) {
    size_t low = 0, high = start;
    while (low < high) {
      COBRA_TRY(interp.Step());
      const size_t middle = low + (high - low) / 2;
      COBRA_TRY_ASSIGN(bool before, less(start, middle));
      (before ? high : low) = before ? middle : middle + 1;
    }
    std::rotate(v.begin() + static_cast<std::ptrdiff_t>(low), v.begin() + static_cast<std::ptrdiff_t>(start),
                v.begin() + static_cast<std::ptrdiff_t>(start) + 1);
  }
  return {};
}

// Stops at the first failing comparison; stable, as list.sort must be.
Result<void> MergeSort(Interpreter& interp, KeyedValues& v, KeyedValues& scratch, size_t begin, size_t end) {
  if (end - begin < 2) return {};
  size_t middle = begin + (end - begin) / 2;
  COBRA_TRY(MergeSort(interp, v, scratch, begin, middle));
  COBRA_TRY(MergeSort(interp, v, scratch, middle, end));
  size_t i = begin, j = middle, out = begin;
  while (i < middle && j < end) {
    COBRA_TRY(interp.Step());
    COBRA_TRY_ASSIGN(bool right_first, LessThan(interp, v[j].first, v[i].first));
    scratch[out++] = right_first ? v[j++] : v[i++];
  }
  while (i < middle) scratch[out++] = v[i++];
  while (j < end) scratch[out++] = v[j++];
  std::copy(scratch.begin() + static_cast<std::ptrdiff_t>(begin), scratch.begin() + static_cast<std::ptrdiff_t>(end),
            v.begin() + static_cast<std::ptrdiff_t>(begin));
  return {};
}

}  // namespace

Result<void> SortValues(Interpreter& interp, std::vector<Value>* values, Value key, bool reverse) {
  constexpr size_t kFew = 64;
  KeyedValues pairs;
  pairs.reserve(values->size());
  for (Value v : *values) {
    Value k = v;
    if (!key.IsNone()) COBRA_TRY_SET(k, interp.Call(key, {v}));
    pairs.emplace_back(k, v);
  }
  if (reverse) std::reverse(pairs.begin(), pairs.end());  // reversed before and after: equal values keep their order
  Result<void> done;
  if (pairs.size() < kFew) {
    done = InsertionSort(interp, pairs);
  } else {
    KeyedValues scratch(pairs.size());
    done = MergeSort(interp, pairs, scratch, 0, pairs.size());
  }
  if (reverse) std::reverse(pairs.begin(), pairs.end());
  for (size_t i = 0; i < pairs.size(); ++i) (*values)[i] = pairs[i].second;
  return done;
}

}  // namespace cobra::python
