#include "base/bytes/keyed_hash.h"

#include <cstring>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace cobra {
namespace {

// The authors' siphash.c with cROUNDS 1 and dROUNDS 3 (the first is also in the tests of Rust's
// siphasher): key 00 01 ... 0f, messages 00 01 ...
TEST(KeyedHash, IsSipHash13With128Bits) {
  HashKey key;
  std::string bytes;
  for (char i = 0; i < 16; ++i) bytes.push_back(i);
  std::memcpy(&key, bytes.data(), sizeof(key));
  const auto hex = [&](size_t length) {
    const Hash128 h = SipHash(key, absl::string_view(bytes).substr(0, length));
    std::string out;
    for (uint64_t half : {h.low, h.high}) {
      for (int i = 0; i < 8; ++i) {
        const int byte = static_cast<int>(half >> (8 * i) & 0xff);
        out.push_back("0123456789abcdef"[byte >> 4]);
        out.push_back("0123456789abcdef"[byte & 15]);
      }
    }
    return out;
  };
  EXPECT_EQ(hex(0), "e77ebcb22788a5befd62db6add303001");
  EXPECT_EQ(hex(1), "fc6f370460d3eda85e0573cc2b2ff063");
  EXPECT_EQ(hex(8), "aa12fee1d5e3dab4724f16ab35f9c799");
  EXPECT_EQ(hex(15), "c17e5505b2bd526c2921cdec1e7e0109");
}

TEST(KeyedHash, IsTheSameOfParts) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes.push_back(static_cast<char>(i * 37));
  const absl::string_view text = bytes;
  for (size_t first = 0; first <= 40; ++first) {
    for (size_t second = first; second <= text.size(); ++second) {
      SipHasher hasher = KeyedHasher();
      hasher.Add(text.substr(0, first));
      hasher.Add(text.substr(first, second - first));
      hasher.Add("");
      hasher.Add(text.substr(second));
      ASSERT_EQ(std::move(hasher).Finish(), KeyedHash(text)) << first << " " << second;
    }
  }
}

TEST(KeyedHash, IsTheSameWithinAProcess) {
  EXPECT_EQ(KeyedHash("conv2d"), KeyedHash("conv2d"));
  EXPECT_NE(KeyedHash("conv2d"), KeyedHash("conv2e"));
}

}  // namespace
}  // namespace cobra
