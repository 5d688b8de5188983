#ifndef COBRA_BASE_HASH_H_
#define COBRA_BASE_HASH_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace cobra {

// A 128-bit value that is the same on every machine and in every run (unlike absl::Hash).
struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;
  friend bool operator==(const Hash128& a, const Hash128& b) { return a.high == b.high && a.low == b.low; }
  friend bool operator!=(const Hash128& a, const Hash128& b) { return !(a == b); }
  friend bool operator<(const Hash128& a, const Hash128& b) {
    return a.high != b.high ? a.high < b.high : a.low < b.low;
  }
  template <typename H>
  friend H AbslHashValue(H h, const Hash128& v) {
    return H::combine(std::move(h), v.high, v.low);
  }
  std::string ToHex() const;  // 32 lower-case digits
};

Hash128 HashBytes(absl::string_view bytes);
// Not commutative: Combine(a, b) != Combine(b, a).
Hash128 HashCombine(Hash128 a, Hash128 b);
Hash128 HashCombine(Hash128 a, uint64_t b);

// Lower-case hexadecimal SHA-256, for files of a model version.
std::string Sha256Hex(absl::string_view bytes);

}  // namespace cobra

#endif  // COBRA_BASE_HASH_H_
