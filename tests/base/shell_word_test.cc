#include "base/text/shell_word.h"

#include "gtest/gtest.h"

namespace cobra {
namespace {

TEST(ShellWordTest, QuotesWhatAShellWouldNotTakeAsItIs) {
  EXPECT_EQ(ShellWord("net.py"), "net.py");
  EXPECT_EQ(ShellWord("1x3x224x224:float32"), "1x3x224x224:float32");
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("Net(width=3)"), "'Net(width=3)'");
  EXPECT_EQ(ShellWord("it's $HOME;"), "'it'\\''s $HOME;'");
  EXPECT_EQ(ShellWord("two\nlines"), "'two\nlines'");
}

}  // namespace
}  // namespace cobra
