#include "client/terminal/terminal.h"

#include "client/terminal/progress.h"
#include "gtest/gtest.h"

namespace cobra::client {
namespace {

StreamFacts Terminal() {
  StreamFacts facts;
  facts.is_terminal = true;
  facts.terminal_width = 90;
  facts.term = "xterm";
  return facts;
}

TEST(TerminalTest, AFileHasNeitherWidthNorColour) {
  StreamFacts facts = Terminal();
  facts.is_terminal = false;
  facts.columns = "40";
  EXPECT_EQ(StyleOf(facts, ColorChoice::kAuto).width, 0);
  EXPECT_FALSE(StyleOf(facts, ColorChoice::kAuto).color);
  facts.clicolor_force = "1";
  EXPECT_TRUE(StyleOf(facts, ColorChoice::kAuto).color);
  EXPECT_EQ(StyleOf(facts, ColorChoice::kAuto).width, 0);
}

TEST(TerminalTest, TheWidthIsThatOfTheTerminalUnlessColumnsSaysOtherwise) {
  StreamFacts facts = Terminal();
  EXPECT_EQ(StyleOf(facts, ColorChoice::kAuto).width, 90);
  facts.columns = "70";
  EXPECT_EQ(StyleOf(facts, ColorChoice::kAuto).width, 70);
  for (const char* wrong : {"0", "-3", "wide", "70 "}) {
    facts.columns = wrong;
    if (facts.columns != "70 ") {
      EXPECT_EQ(StyleOf(facts, ColorChoice::kAuto).width, 90) << wrong;
    }
  }
  facts.columns.clear();
  facts.terminal_width = 0;
  EXPECT_EQ(StyleOf(facts, ColorChoice::kAuto).width, 80);
}

TEST(TerminalTest, WhoAsksLoudestDecidesAboutColour) {
  StreamFacts facts = Terminal();
  EXPECT_TRUE(StyleOf(facts, ColorChoice::kAuto).color);
  facts.clicolor_force = "1";
  facts.no_color = "1";
  EXPECT_FALSE(StyleOf(facts, ColorChoice::kAuto).color);
  EXPECT_TRUE(StyleOf(facts, ColorChoice::kAlways).color);
  facts.no_color.clear();
  EXPECT_FALSE(StyleOf(facts, ColorChoice::kNever).color);
  facts.clicolor_force = "0";  // as if it were not set
  facts.term = "dumb";
  EXPECT_FALSE(StyleOf(facts, ColorChoice::kAuto).color);
  facts.term = "";
  EXPECT_FALSE(StyleOf(facts, ColorChoice::kAuto).color);
}

TEST(TerminalTest, OnlyTheWordOfAMessageIsPainted) {
  EXPECT_EQ(PaintedMessage("cobra-client: error: x\nhint: y", true),
            "cobra-client: \033[31merror:\033[0m x\n\033[1mhint:\033[0m y");
  EXPECT_EQ(PaintedMessage("net.py:3:1: error: x", true), "net.py:3:1: \033[31merror:\033[0m x");
  // A line of the user's program is quoted as it is.
  EXPECT_EQ(PaintedMessage("    print('error: x')", true), "    print('error: x')");
  EXPECT_EQ(PaintedMessage("warning: busy", true), "\033[33mwarning:\033[0m busy");
  EXPECT_EQ(PaintedMessage("error: x", false), "error: x");
}

TEST(ProgressTest, TheRestIsEstimatedOnceItCanBe) {
  EXPECT_EQ(ProgressText("reading net.py", 0, 0, absl::Seconds(3)), "reading net.py ... 3 s");
  EXPECT_EQ(ProgressText("asking", 2, 20, absl::Seconds(3)), "asking: 2 of 20 ... 3 s");
  EXPECT_EQ(ProgressText("asking", 10, 40, absl::Seconds(4)), "asking: 10 of 40 ... 4 s, about 12 s left");
  EXPECT_EQ(ProgressText("asking", 40, 40, absl::Seconds(9)), "asking: 40 of 40 ... 9 s");
}

TEST(ProgressTest, OneInsideOfAnotherEndsInAnyOrder) {
  auto outer = std::make_unique<Progress>("outer");
  auto inner = std::make_unique<Progress>("inner");
  outer.reset();
  inner->Update("still there");
  inner.reset();
}

}  // namespace
}  // namespace cobra::client
