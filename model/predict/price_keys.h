// Keys of what is kept of calls on targets.
#ifndef COBRA_MODEL_PREDICT_PRICE_KEYS_H_
#define COBRA_MODEL_PREDICT_PRICE_KEYS_H_

#include <array>
#include <cstdint>
#include <utility>

#include "absl/strings/string_view.h"
#include "base/bytes/hash.h"
#include "base/bytes/keyed_hash.h"
#include "model/predict/work/features.h"

namespace cobra::predict {

// Of a trained target with a specification, its own or another.
inline Hash128 KeyOfTarget(int64_t target, const std::array<float, kTargetSpecFeatures>& spec) {
  SipHasher hasher = KeyedHasher();
  hasher.Add(absl::string_view(reinterpret_cast<const char*>(&target), sizeof(target)));
  hasher.Add(absl::string_view(reinterpret_cast<const char*>(spec.data()), sizeof(spec)));
  return std::move(hasher).Finish();
}

// Of two keys, neither of which anybody can choose (base/bytes/keyed_hash.h).
inline Hash128 KeyOfBoth(const Hash128& a, const Hash128& b) { return {a.high ^ b.high, a.low ^ b.low}; }

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_PRICE_KEYS_H_
