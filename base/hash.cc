// 128-bit MurmurHash3 (x64 variant, Austin Appleby, public domain) for identities that must be stable across machines;
// SHA-256 comes from OpenSSL.
#include "base/hash.h"

#include <openssl/sha.h>

#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"

namespace cobra {
namespace {

inline uint64_t Rotl(uint64_t x, int r) { return (x << r) | (x >> (64 - r)); }

inline uint64_t Mix(uint64_t k) {
  k ^= k >> 33;
  k *= 0xff51afd7ed558ccdULL;
  k ^= k >> 33;
  k *= 0xc4ceb9fe1a85ec53ULL;
  k ^= k >> 33;
  return k;
}

constexpr uint64_t kC1 = 0x87c37b91114253d5ULL;
constexpr uint64_t kC2 = 0x4cf5ad432745937fULL;

}  // namespace

Hash128 HashBytes(absl::string_view bytes) {
  uint64_t h1 = 0, h2 = 0;
  const char* p = bytes.data();
  size_t n = bytes.size();
  while (n >= 16) {
    uint64_t k1, k2;
    std::memcpy(&k1, p, 8);
    std::memcpy(&k2, p + 8, 8);
    h1 ^= Rotl(k1 * kC1, 31) * kC2;
    h1 = (Rotl(h1, 27) + h2) * 5 + 0x52dce729;
    h2 ^= Rotl(k2 * kC2, 33) * kC1;
    h2 = (Rotl(h2, 31) + h1) * 5 + 0x38495ab5;
    p += 16;
    n -= 16;
  }
  uint64_t tail[2] = {0, 0};
  if (n > 0) std::memcpy(tail, p, n);  // the pointer of an empty text may be null
  h2 ^= Rotl(tail[1] * kC2, 33) * kC1;
  h1 ^= Rotl(tail[0] * kC1, 31) * kC2;
  h1 ^= bytes.size();
  h2 ^= bytes.size();
  h1 += h2;
  h2 += h1;
  h1 = Mix(h1);
  h2 = Mix(h2);
  h1 += h2;
  h2 += h1;
  return {h1, h2};
}

Hash128 HashCombine(Hash128 a, Hash128 b) {
  uint64_t words[4] = {a.high, a.low, b.high, b.low};
  return HashBytes(absl::string_view(reinterpret_cast<const char*>(words), sizeof(words)));
}

Hash128 HashCombine(Hash128 a, uint64_t b) { return HashCombine(a, Hash128{0x9e3779b97f4a7c15ULL, b}); }

std::string Hash128::ToHex() const { return absl::StrFormat("%016x%016x", high, low); }

std::string Sha256Hex(absl::string_view bytes) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), sizeof(digest)));
}

}  // namespace cobra
