#include "base/bytes/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace cobra {
namespace {

TEST(Hash, Sha256OfKnownText) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Hash, EveryLengthAndEveryByteCounts) {
  std::set<std::string> seen;
  for (int n = 0; n < 70; ++n) {
    std::string text(n, 'a');
    EXPECT_TRUE(seen.insert(HashBytes(text).ToHex()).second) << n;
    for (int i = 0; i < n; ++i) {
      std::string other = text;
      other[i] = 'b';
      EXPECT_TRUE(seen.insert(HashBytes(other).ToHex()).second) << n << " " << i;
    }
  }
}

TEST(Hash, CombineDependsOnOrder) {
  const Hash128 a = HashBytes("a"), b = HashBytes("b");
  EXPECT_NE(HashCombine(a, b), HashCombine(b, a));
  EXPECT_NE(HashCombine(a, uint64_t{1}), HashCombine(a, uint64_t{2}));
}

// Written into files (splits, probe references): must never change.
TEST(Hash, IsTheSameOnEveryMachine) { EXPECT_EQ(HashBytes("cobra").ToHex(), "55b12d05ab9f36af6c1e485b5b25a8fc"); }

}  // namespace
}  // namespace cobra
