#include "base/text/utf8.h"

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

TEST(Utf8Prefix, EndsWithAWholeCharacter) {
  EXPECT_EQ(Utf8Prefix("abc", 5), "abc");
  EXPECT_EQ(Utf8Prefix("abc", 2), "ab");
  const std::string text = "x\u00e9\u00e9";  // of two bytes each
  EXPECT_EQ(Utf8Prefix(text, 5), text);
  EXPECT_EQ(Utf8Prefix(text, 4), "x\u00e9");
  EXPECT_EQ(Utf8Prefix(text, 3), "x\u00e9");
  EXPECT_EQ(Utf8Prefix(text, 2), "x");
  EXPECT_EQ(Utf8Prefix("\U0001f600", 3), "");
}

}  // namespace
}  // namespace cobra
