#include "base/printable.h"

#include "gtest/gtest.h"

namespace cobra {
namespace {

TEST(PrintableTest, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(Printable("caf\xC3\xA9\t1\n"), "caf\xC3\xA9\t1\n");
  EXPECT_EQ(Printable("\x1b[2J\x07\x7f"), "?[2J??");
  EXPECT_EQ(Printable("a\xC2\x9B"
                      "b"),
            "a?b");
  EXPECT_EQ(Printable("\xE2\x80\xAE"
                      "x\xE2\x81\xA9"),
            "?x?");
  EXPECT_EQ(Printable("\xE2\x80\x94"), "\xE2\x80\x94");  // a dash
  EXPECT_EQ(Printable("\xC2"), "\xC2");
}

}  // namespace
}  // namespace cobra
