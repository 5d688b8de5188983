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
    : state_{key.k0 ^ 0x736f6d6570736575u, key.k1 ^ 0x646f72616e646f6du ^ 0xee, key.k0 ^ 0x6c7967656e657261u,
             key.k1 ^ 0x7465646279746573u} {}

inline void SipHasher::State::Round() {
  v0 += v1;
  v1 = Rotated(v1, 13) ^ v0;
  v0 = Rotated(v0, 32);
  v2 += v3;
  v3 = Rotated(v3, 16) ^ v2;
  v0 += v3;
  v3 = Rotated(v3, 21) ^ v0;
  v2 += v1;
  v1 = Rotated(v1, 17) ^ v2;
  v2 = Rotated(v2, 32);
}

inline void SipHasher::State::AddWord(uint64_t word) {
  v3 ^= word;
  Round();
  v0 ^= word;
}

inline uint64_t SipHasher::State::Half() {
  for (int i = 0; i < 3; ++i) Round();
  return v0 ^ v1 ^ v2 ^ v3;
}

void SipHasher::Add(absl::string_view part) {
  const size_t begun = size_ % 8;
  size_ += part.size();
  if (begun != 0) {
    const size_t taken = std::min(8 - begun, part.size());
    rest_ |= Word(part.data(), taken) << (8 * begun);
    part.remove_prefix(taken);
    if (begun + taken < 8) return;
    state_.AddWord(rest_);
  }
  const size_t whole = part.size() & ~size_t{7};
  State state = state_;  // in registers: as a member it could be what `part` refers to
  for (size_t i = 0; i < whole; i += 8) state.AddWord(Word(part.data() + i, 8));
  state_ = state;
  rest_ = Word(part.data() + whole, part.size() - whole);
}

Hash128 SipHasher::Finish() && {
  state_.AddWord(size_ << 56 | rest_);
  state_.v2 ^= 0xee;
  Hash128 hash;
  hash.low = state_.Half();
  state_.v1 ^= 0xdd;
  hash.high = state_.Half();
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
