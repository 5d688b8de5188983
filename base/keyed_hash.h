// A hash for caches whose keys strangers choose. Nobody who does not know the key of this process can find two texts
// with the same hash. The values differ from process to process: they are never stored or sent.
#ifndef COBRA_BASE_KEYED_HASH_H_
#define COBRA_BASE_KEYED_HASH_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "base/hash.h"

namespace cobra {

struct HashKey {
  uint64_t k0 = 0, k1 = 0;
};

// SipHash-2-4 with 128 bits (Aumasson and Bernstein, 2012; the authors' siphash.c).
Hash128 SipHash(const HashKey& key, absl::string_view bytes);

// SipHash with a key that is drawn when this process first needs it.
Hash128 KeyedHash(absl::string_view bytes);

}  // namespace cobra

#endif  // COBRA_BASE_KEYED_HASH_H_
