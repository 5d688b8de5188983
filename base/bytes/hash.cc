#include "base/bytes/hash.h"

#include <openssl/sha.h>

#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"

namespace cobra {
using internal_hash::AddBlock;
using internal_hash::Finish;
using internal_hash::kC1;
using internal_hash::kC2;
using internal_hash::Rotl;

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

std::string Hash128::ToHex() const { return absl::StrFormat("%016x%016x", high, low); }

std::string Sha256Hex(absl::string_view bytes) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), sizeof(digest)));
}

}  // namespace cobra
