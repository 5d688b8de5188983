// A hash for caches whose keys come from untrusted callers. Without the key of this process nobody
// can find two texts with the same hash. The values differ from process to process, so they are
// never stored or sent.
#ifndef COBRA_BASE_BYTES_KEYED_HASH_H_
#define COBRA_BASE_BYTES_KEYED_HASH_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "base/bytes/hash.h"

namespace cobra {

struct HashKey {
  uint64_t k0 = 0, k1 = 0;
};

// SipHash-1-3 with 128 bits (Aumasson and Bernstein, 2012; the authors' siphash.c), which hash
// tables of Rust and Ruby use: half the rounds of SipHash-2-4. Nobody sees the values.
Hash128 SipHash(const HashKey& key, absl::string_view bytes);

// SipHash with a key that is drawn when this process first needs it.
Hash128 KeyedHash(absl::string_view bytes);

// The same for bytes that arrive in parts.
class SipHasher {
 public:
  explicit SipHasher(const HashKey& key);
  void Add(absl::string_view part);
  Hash128 Finish() &&;

 private:
  struct State {
    uint64_t v0, v1, v2, v3;

    void Round();
    void AddWord(uint64_t word);
    uint64_t Half();
  };

  State state_;
  uint64_t size_ = 0;
  uint64_t rest_ = 0;  // the last size_ % 8 bytes
};
SipHasher KeyedHasher();

}  // namespace cobra

#endif  // COBRA_BASE_BYTES_KEYED_HASH_H_
