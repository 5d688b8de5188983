#include "base/without_escapes.h"

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
}

}  // namespace
}  // namespace cobra
