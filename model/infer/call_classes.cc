#include "model/infer/call_classes.h"

#include <algorithm>

#include "absl/hash/hash.h"

namespace cobra::infer {

CallClasses ClassesOfLayers(absl::Span<const int32_t> layer_of_call, size_t layers) {
  CallClasses classes;
  classes.of_call.assign(layer_of_call.begin(), layer_of_call.end());
  classes.first.assign(layers, -1);
  for (size_t call = 0; call < classes.of_call.size(); ++call) {
    int32_t& first = classes.first[static_cast<size_t>(classes.of_call[call])];
    if (first < 0) first = static_cast<int32_t>(call);
  }
  return classes;
}

CallClasses Refine(const CallClasses& before, const Neighbors& along, const Neighbors& against) {
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
  const size_t calls = before.of_call.size();
  const auto of = [&](int32_t call) { return before.of_call[static_cast<size_t>(call)]; };
  const auto same = [&](absl::Span<const int32_t> a, absl::Span<const int32_t> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](int32_t x, int32_t y) { return of(x) == of(y); });
  };
  const auto hash = [&](int32_t call) {
    uint64_t sum = static_cast<uint64_t>(of(call));
    for (const int32_t neighbor : along.Of(call)) sum = sum * kFactor + static_cast<uint64_t>(of(neighbor));
    sum = ~sum;
    for (const int32_t neighbor : against.Of(call)) sum = sum * kFactor + static_cast<uint64_t>(of(neighbor));
    return absl::HashOf(sum);
  };
  CallClasses classes;
  classes.of_call.reserve(calls);
  size_t slots = 16;
  while (slots < 2 * calls) slots *= 2;
  std::vector<int32_t> class_at(slots, -1);
  for (int32_t call = 0; call < static_cast<int32_t>(calls); ++call) {
    size_t slot = hash(call) % slots;
    for (;; slot = (slot + 1) % slots) {
      int32_t& here = class_at[slot];
      if (here < 0) {
        here = static_cast<int32_t>(classes.first.size());
        classes.first.push_back(call);
      }
      const int32_t first = classes.first[static_cast<size_t>(here)];
      if (first == call || (of(first) == of(call) && same(along.Of(first), along.Of(call)) &&
                            same(against.Of(first), against.Of(call)))) {
        classes.of_call.push_back(here);
        break;
      }
    }
  }
  return classes;
}

}  // namespace cobra::infer
