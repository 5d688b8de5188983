#include "base/text/without_escapes.h"

#include "gtest/gtest.h"

namespace cobra {
namespace {

TEST(WithoutEscapesTest, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(WithoutEscapes("caf\xC3\xA9\t1\n"), "caf\xC3\xA9\t1\n");
  EXPECT_EQ(WithoutEscapes("\x1b[2J\x07\x7f"), "?[2J??");
  EXPECT_EQ(WithoutEscapes("a\xC2\x9B"
                           "b"),
            "a?b");
  EXPECT_EQ(WithoutEscapes("\xE2\x80\xAE"
                           "x\xE2\x81\xA9"),
            "?x?");
  EXPECT_EQ(WithoutEscapes("\xE2\x80\x94"), "\xE2\x80\x94");  // a dash
  EXPECT_EQ(WithoutEscapes("\xC2"), "\xC2");
  EXPECT_EQ(WithoutEscapes("\xD8\x9C|\xE2\x80\xA8|\xE2\x80\xA9"), "?|?|?");  // U+061C, U+2028, U+2029
  EXPECT_EQ(WithoutEscapes("\xD8\x9B"), "\xD8\x9B");                         // beside it
}

TEST(WithoutEscapesTest, OfBytesThatAreNotUtf8HidesControlCharacters) {
  EXPECT_EQ(WithoutEscapes("a\x9B"
                           "31m\x80"),
            "a?31m?");
  EXPECT_EQ(WithoutEscapes("\xFF\xE9"), "\xFF\xE9");
  EXPECT_EQ(WithoutEscapes("\xF0\x9F\x98\x80"), "\xF0\x9F\x98\x80");  // a picture has such bytes inside
}

}  // namespace
}  // namespace cobra
