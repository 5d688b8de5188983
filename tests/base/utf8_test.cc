#include "base/utf8.h"

#include "gtest/gtest.h"

namespace cobra {
namespace {

TEST(Utf8Test, CountsTheBytesOfACharacter) {
  EXPECT_EQ(Utf8CharacterBytes("a"), 1u);
  EXPECT_EQ(Utf8CharacterBytes("é!"), 2u);
  EXPECT_EQ(Utf8CharacterBytes("€"), 3u);
  EXPECT_EQ(Utf8CharacterBytes("\xf4\x8f\xbf\xbf"), 4u);  // the last one
  EXPECT_EQ(Utf8CharacterBytes(""), 0u);
}

TEST(Utf8Test, WhatIsNoCharacterHasNoLength) {
  for (const char* bytes : {"\x80", "\xc0\xaf", "\xc3", "\xe0\x9f\x80", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                            "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82"}) {
    EXPECT_EQ(Utf8CharacterBytes(bytes), 0u) << bytes;
  }
}

TEST(Utf8Test, OtherBytesAreReplacedOneByOne) {
  EXPECT_EQ(ReplaceInvalidUtf8("a\xff\xc3\xa9\xed\xa0\x80"), "a?é???");
  EXPECT_EQ(ReplaceInvalidUtf8(""), "");
}

}  // namespace
}  // namespace cobra
