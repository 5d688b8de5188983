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

}  // namespace

Hash128 HashBytes(absl::string_view bytes) {
  Hash128 h;
  const char* p = bytes.data();
  size_t n = bytes.size();
  while (n >= 16) {
    uint64_t block[2];
    std::memcpy(block, p, sizeof(block));
    AddBlock(block[0], block[1], &h);
    p += 16;
    n -= 16;
  }
  uint64_t tail[2] = {0, 0};
  if (n > 0) std::memcpy(tail, p, n);  // the pointer of an empty text may be null
  h.low ^= Rotl(tail[1] * kC2, 33) * kC1;
  h.high ^= Rotl(tail[0] * kC1, 31) * kC2;
  return Finish(h, bytes.size());
}

// HashBytes() of the four words.
Hash128 HashCombine(Hash128 a, Hash128 b) {
  Hash128 h;
  AddBlock(a.high, a.low, &h);
  AddBlock(b.high, b.low, &h);
  return Finish(h, 32);
}

Hash128 HashCombine(Hash128 a, uint64_t b) { return HashCombine(a, Hash128{0x9e3779b97f4a7c15ULL, b}); }

std::string Hash128::ToHex() const { return absl::StrFormat("%016x%016x", high, low); }

std::string Sha256Hex(absl::string_view bytes) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), sizeof(digest)));
}

}  // namespace cobra
