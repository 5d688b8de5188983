#include "base/keyed_hash.h"

#include <sys/random.h>

#include <cstdlib>
#include <cstring>

namespace cobra {
namespace {

uint64_t Rotated(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

struct State {
  uint64_t v0, v1, v2, v3;

  void Round() {
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
  void Add(uint64_t word) {
    v3 ^= word;
    Round();
    Round();
    v0 ^= word;
  }
  uint64_t Half() {
    for (int i = 0; i < 4; ++i) Round();
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

// Little-endian, as on every machine that this project runs on.
uint64_t Word(const char* bytes, size_t size) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, size);
  return word;
}

HashKey DrawKey() {
  HashKey key;
  // Cannot fail for so few bytes once the system has started; without a key there is no safe way to go on.
  if (::getrandom(&key, sizeof(key), 0) != sizeof(key)) std::abort();
  return key;
}

}  // namespace

Hash128 SipHash(const HashKey& key, absl::string_view bytes) {
  State s = {key.k0 ^ 0x736f6d6570736575u, key.k1 ^ 0x646f72616e646f6du ^ 0xee, key.k0 ^ 0x6c7967656e657261u,
             key.k1 ^ 0x7465646279746573u};
  const size_t whole = bytes.size() & ~size_t{7};
  for (size_t i = 0; i < whole; i += 8) s.Add(Word(bytes.data() + i, 8));
  s.Add(uint64_t{bytes.size()} << 56 | Word(bytes.data() + whole, bytes.size() - whole));
  s.v2 ^= 0xee;
  Hash128 hash;
  hash.low = s.Half();
  s.v1 ^= 0xdd;
  hash.high = s.Half();
  return hash;
}

Hash128 KeyedHash(absl::string_view bytes) {
  static const HashKey kKey = DrawKey();
  return SipHash(kKey, bytes);
}

}  // namespace cobra
