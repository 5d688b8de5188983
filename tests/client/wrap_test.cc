#include "client/terminal/wrap.h"

#include <string>

#include "client/terminal/terminal.h"
#include "gtest/gtest.h"

namespace cobra::client {
namespace {

TEST(WrapTest, LinesEndBetweenWords) {
  EXPECT_EQ(WordWrapped("hint: give one of these words for each\nshort\n", 16),
            "hint: give one\n  of these words\n  for each\nshort\n");
  EXPECT_EQ(WordWrapped("  24.8 % of the time: conv2d", 20), "  24.8 % of the\n    time: conv2d");
  EXPECT_EQ(WordWrapped("a word_that_is_longer_than_the_line b", 10), "a\n  word_that_is_longer_than_the_line\n  b");
  EXPECT_EQ(WordWrapped("anything at all", 0), "anything at all");
  EXPECT_EQ(WordWrapped("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 \xc3\xb6\xc3\xb6", 7),
            "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 \xc3\xb6\xc3\xb6");
}

TEST(WrapTest, WideCharactersTakeTwoColumns) {
  EXPECT_EQ(WordWrapped("日本 日本", 8), "日本\n  日本");
  EXPECT_EQ(WordWrapped("日本 日本", 9), "日本 日本");
}

TEST(WrapTest, ColoursTakeNoRoom) {
  const std::string painted = Painter(true).Bad("0.09");
  EXPECT_EQ(WordWrapped("at " + painted + " now", 11), "at " + painted + " now");
  EXPECT_EQ(WordWrapped("at " + painted + " now", 8), "at " + painted + "\n  now");
}

TEST(WrapTest, ProgramsAndTablesStay) {
  for (const char* line : {"    return self.forward(x) + self.other(x)", "%0 = conv2d(input=input0, weight=w)",
                           "cpu-epyc-turin-1t   0.226   a guess", "| held out | rows | MAPE |"}) {
    EXPECT_EQ(WordWrapped(line, 12), line);
  }
}

}  // namespace
}  // namespace cobra::client
