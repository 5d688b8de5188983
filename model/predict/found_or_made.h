// What a cache knows of some values, and the others made together.
#ifndef COBRA_MODEL_PREDICT_FOUND_OR_MADE_H_
#define COBRA_MODEL_PREDICT_FOUND_OR_MADE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "base/bytes/clock_cache.h"
#include "base/bytes/hash.h"

namespace cobra::predict {

// A value for each key. `make`: from the places of the keys that are not known, which are one or
// more, to their values; they stay in the cache. `held_bytes`: of a value (ClockCache::Insert).
template <typename Value, typename Make, typename HeldBytes>
std::vector<std::shared_ptr<const Value>> FoundOrMade(ClockCache<Value>* cache, const std::vector<Hash128>& keys,
                                                      const Make& make, const HeldBytes& held_bytes) {
  std::vector<std::shared_ptr<const Value>> values(keys.size());
  cache->FindMany(keys, absl::MakeSpan(values));
  std::vector<size_t> missing;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == nullptr) missing.push_back(i);
  }
  if (missing.empty()) return values;
  std::vector<Value> made = make(missing);
  for (size_t i = 0; i < missing.size(); ++i) {
    const int64_t held = held_bytes(made[i]);
    values[missing[i]] = cache->Insert(keys[missing[i]], std::move(made[i]), held);
  }
  return values;
}

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_FOUND_OR_MADE_H_
