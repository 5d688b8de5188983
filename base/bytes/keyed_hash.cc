#include "base/bytes/keyed_hash.h"

#include <sys/random.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace cobra {
namespace {

uint64_t Rotated(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

// Little-endian, as on every machine that this project runs on.
uint64_t Word(const char* bytes, size_t size) {
  uint64_t word = 0;
  if (size > 0) std::memcpy(&word, bytes, size);
  return word;
}

HashKey DrawKey() {
  HashKey key;
  // Cannot fail for so few bytes once the system has started; without a key there is no safe way to
  // go on.
  if (::getrandom(&key, sizeof(key), 0) != sizeof(key)) std::abort();
  return key;
}

const HashKey& ProcessKey() {
  static const HashKey kKey = DrawKey();
  return kKey;
}

}  // namespace

SipHasher::SipHasher(const HashKey& key)
    : v0_(key.k0 ^ 0x736f6d6570736575u),
      v1_(key.k1 ^ 0x646f72616e646f6du ^ 0xee),
      v2_(key.k0 ^ 0x6c7967656e657261u),
      v3_(key.k1 ^ 0x7465646279746573u) {}

inline void SipHasher::Round() {
  v0_ += v1_;
  v1_ = Rotated(v1_, 13) ^ v0_;
  v0_ = Rotated(v0_, 32);
  v2_ += v3_;
  v3_ = Rotated(v3_, 16) ^ v2_;
  v0_ += v3_;
  v3_ = Rotated(v3_, 21) ^ v0_;
  v2_ += v1_;
  v1_ = Rotated(v1_, 17) ^ v2_;
  v2_ = Rotated(v2_, 32);
}

inline void SipHasher::AddWord(uint64_t word) {
  v3_ ^= word;
  Round();
  Round();
  v0_ ^= word;
}

uint64_t SipHasher::Half() {
  for (int i = 0; i < 4; ++i) Round();
  return v0_ ^ v1_ ^ v2_ ^ v3_;
}

void SipHasher::Add(absl::string_view part) {
  const size_t begun = size_ % 8;
  size_ += part.size();
  if (begun != 0) {
    const size_t taken = std::min(8 - begun, part.size());
    rest_ |= Word(part.data(), taken) << (8 * begun);
    part.remove_prefix(taken);
    if (begun + taken < 8) return;
    AddWord(rest_);
  }
  const size_t whole = part.size() & ~size_t{7};
  for (size_t i = 0; i < whole; i += 8) AddWord(Word(part.data() + i, 8));
  rest_ = Word(part.data() + whole, part.size() - whole);
}

Hash128 SipHasher::Finish() && {
  AddWord(size_ << 56 | rest_);
  v2_ ^= 0xee;
  Hash128 hash;
  hash.low = Half();
  v1_ ^= 0xdd;
  hash.high = Half();
  return hash;
}

Hash128 SipHash(const HashKey& key, absl::string_view bytes) {
  SipHasher hasher(key);
  hasher.Add(bytes);
  return std::move(hasher).Finish();
}

Hash128 KeyedHash(absl::string_view bytes) { return SipHash(ProcessKey(), bytes); }

SipHasher KeyedHasher() { return SipHasher(ProcessKey()); }

}  // namespace cobra
