#include "client/terminal/output.h"

#include "client/terminal/terminal.h"
#include "gtest/gtest.h"

namespace cobra::client {
namespace {

TEST(OutputTest, OfEscapesOnlyOurColoursRemain) {
  const Painter paint(/*color=*/true);
  const std::string painted = paint.Heading("a") + paint.Dim("b") + paint.Bad("c") + paint.Good("d") + paint.Doubt("e");
  EXPECT_EQ(TerminalText(painted, /*color=*/true), painted);
  EXPECT_EQ(TerminalText(painted, /*color=*/false), "?[1ma?[0m?[2mb?[0m?[31mc?[0m?[32md?[0m?[33me?[0m");
  EXPECT_EQ(TerminalText("\033[8mhidden\033]0;title\007\033[1;31m\033[1", true), "?[8mhidden?]0;title??[1;31m?[1");
  EXPECT_EQ(TerminalText("a\r\xC2\x9B"
                         "2J\xE2\x80\xAE"
                         "b\tc\n",
                         true),
            "a??2J?b\tc\n");
  EXPECT_EQ(TerminalText("", true), "");
}

TEST(OutputTest, NoLineIsACommandToACiSystem) {
  EXPECT_EQ(TextForPeople("::error::x\n  ::add-mask::y\na::b\n", false), ": :error::x\n  : :add-mask::y\na::b\n");
  EXPECT_EQ(TextForPeople("a ##[group]b ##vso[task]c", false), "a ## [group]b ##vso [task]c");
}

TEST(OutputTest, DataReachAPipeAsTheyAre) {
  testing::internal::CaptureStdout();
  PrintData("{\"a\": \"\xC2\x9B\xE2\x80\xAE::\"}\n::x");
  PrintText("\xC2\x9B");
  EXPECT_TRUE(FlushOutput());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "{\"a\": \"\xC2\x9B\xE2\x80\xAE::\"}\n::x\n?\n");
}

TEST(OutputTest, NothingPrintsNothing) {
  testing::internal::CaptureStdout();
  PrintData("");
  PrintText("");
  EXPECT_TRUE(FlushOutput());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace cobra::client
