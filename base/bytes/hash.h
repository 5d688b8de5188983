#ifndef COBRA_BASE_BYTES_HASH_H_
#define COBRA_BASE_BYTES_HASH_H_

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

// 128-bit MurmurHash3 (x64 variant, Austin Appleby, public domain).
Hash128 HashBytes(absl::string_view bytes);

namespace internal_hash {

inline uint64_t Rotl(uint64_t x, int r) { return (x << r) | (x >> (64 - r)); }

inline uint64_t Mix(uint64_t k) {
  k ^= k >> 33;
  k *= 0xff51afd7ed558ccdULL;
  k ^= k >> 33;
  k *= 0xc4ceb9fe1a85ec53ULL;
  k ^= k >> 33;
  return k;
}

inline constexpr uint64_t kC1 = 0x87c37b91114253d5ULL;
inline constexpr uint64_t kC2 = 0x4cf5ad432745937fULL;

// The state, h1 and h2, after 16 more bytes.
inline void AddBlock(uint64_t k1, uint64_t k2, Hash128* h) {
  h->high ^= Rotl(k1 * kC1, 31) * kC2;
  h->high = (Rotl(h->high, 27) + h->low) * 5 + 0x52dce729;
  h->low ^= Rotl(k2 * kC2, 33) * kC1;
  h->low = (Rotl(h->low, 31) + h->high) * 5 + 0x38495ab5;
}

inline Hash128 Finish(Hash128 h, uint64_t size) {
  h.high ^= size;
  h.low ^= size;
  h.high += h.low;
  h.low += h.high;
  h.high = Mix(h.high);
  h.low = Mix(h.low);
  h.high += h.low;
  h.low += h.high;
  return h;
}

}  // namespace internal_hash

// The first half of HashCombine(a, ...), for a hash that is combined with several.
class HashSeed {
 public:
  explicit HashSeed(Hash128 a) { internal_hash::AddBlock(a.high, a.low, &state_); }
  Hash128 With(Hash128 b) const {
    Hash128 h = state_;
    internal_hash::AddBlock(b.high, b.low, &h);
    return internal_hash::Finish(h, 32);
  }
  Hash128 With(uint64_t b) const { return With(Hash128{0x9e3779b97f4a7c15ULL, b}); }

 private:
  Hash128 state_;
};

// HashBytes() of the four words. Not commutative: Combine(a, b) != Combine(b, a). Inline, because
// fingerprints call it thousands of times.
inline Hash128 HashCombine(Hash128 a, Hash128 b) { return HashSeed(a).With(b); }
inline Hash128 HashCombine(Hash128 a, uint64_t b) { return HashSeed(a).With(b); }

// Lower-case hexadecimal SHA-256, for files of a model version.
std::string Sha256Hex(absl::string_view bytes);

}  // namespace cobra

#endif  // COBRA_BASE_BYTES_HASH_H_
