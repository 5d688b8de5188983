#include "client/terminal/text_table.h"

#include <set>

#include "gtest/gtest.h"

namespace cobra::client {
namespace {

TEST(TextTableTest, AlignsColumns) {
  EXPECT_EQ(TextTable({{"name", "ms"}, {"a", "10.5"}, {"longer", "9.25"}}, {false, true}),
            "name      ms\na       10.5\nlonger  9.25\n");
}

TEST(TextTableTest, CountsCharactersAndNotBytes) {
  EXPECT_EQ(TextTable({{"\xc3\xa4\xc3\xb6", "x"}, {"abc", "y"}}, {false, false}), "\xc3\xa4\xc3\xb6   x\nabc  y\n");
}

TEST(TextTableTest, WideCharactersAndAccentsTakeTheColumnsOfATerminal) {
  EXPECT_EQ(TextTable({{"日本", "x"}, {"e\xcc\x81", "y"}, {"abc", "z"}}, {false, false}),
            "日本  x\ne\xcc\x81     y\nabc   z\n");
  // A rocket, and a byte that is not UTF-8.
  EXPECT_EQ(TextTable({{"\xf0\x9f\x9a\x80", "x"}, {"\xff", "y"}}, {false, false}), "\xf0\x9f\x9a\x80  x\n\xff   y\n");
  EXPECT_EQ(TextTable({{"日本日本日本"}}, {{.min_width = 6}}, 8), "日本...\n");
  EXPECT_EQ(TextTable({{"日本日本日本"}}, {{false, 6, true}}, 8), "...日本\n");
  EXPECT_EQ(TextTable({{"日本日本日本"}}, {{.min_width = 6, .keep_both = true}}, 8), "日...本\n");
}

TEST(TextTableTest, CutsOnlyTheColumnsThatMayBeCut) {
  const std::vector<std::vector<std::string>> rows = {{"ms", "module"}, {"12.345", "encoder.layers.11.mlp.fc1"}};
  EXPECT_EQ(TextTable(rows, {{true}, {false, 8, /*keep_end=*/true}}, 20), "    ms  module\n12.345  ...1.mlp.fc1\n");
  // At its least width nothing more is cut, above all no number: the line is wider than the
  // terminal.
  EXPECT_EQ(TextTable(rows, {{true}, {false, 8, true}}, 10), "    ms  module\n12.345  ...p.fc1\n");
  EXPECT_EQ(TextTable(rows, {{true}, {false, 8}}, 20), "    ms  module\n12.345  encoder.l...\n");
}

TEST(TextTableTest, NamesThatAreCutInTheMiddleStayDifferent) {
  const std::vector<std::vector<std::string>> rows = {
      {"target"}, {"gpu-t4-modal-torch-2.5-train"}, {"gpu-l4-modal-torch-2.5-train"}, {"gpu-t4-modal-torch-2.5-eager"}};
  for (int width = 8; width < 30; ++width) {
    const std::vector<std::string> lines = LinesOfTable(rows, {{.min_width = 8, .keep_both = true}}, width).lines;
    EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()).size(), 4u) << width;
  }
  EXPECT_EQ(LinesOfTable({{"abcdefghijkl"}}, {{.min_width = 7, .keep_both = true}}, 7).lines[0], "ab...kl");
  // Where they differ only in the very middle, they are cut less, or not at all.
  EXPECT_EQ(TextTable({{"aaaaaaaa1bbbbbbbb"}, {"aaaaaaaa2bbbbbbbb"}}, {{.min_width = 6, .keep_both = true}}, 6),
            "aaaaaaaa1...\naaaaaaaa2...\n");
}

TEST(TextTableTest, ThatTheyStayDifferentCountsWhenColumnsAreLeftOut) {
  const std::vector<std::vector<std::string>> rows = {{"ms", "runtime", "threads"},
                                                      {"1.5", "libtorch-1.13.0+openblas-SkylakeX", "1"},
                                                      {"2.5", "libtorch-1.13.0+openblas-Haswell", "1"},
                                                      {"3.5", "libtorch-2.13.0+openblas-Haswell", "1"}};
  const std::vector<Column> columns = {
      {true}, {.min_width = 8, .keep_both = true, .leave_out = 1}, {.right = true, .leave_out = 2}};
  for (int width = 16; width < 50; ++width) {
    const TableLines table = LinesOfTable(rows, columns, width);
    if (table.left_out == "no room for: threads, runtime") continue;
    std::set<std::string> cells;
    for (const std::string& line : table.lines) {
      EXPECT_LE(line.size(), static_cast<size_t>(width));
      cells.insert(line.substr(std::string("1.5  ").size()));
    }
    EXPECT_EQ(cells.size(), 4u) << width;
  }
}

TEST(TextTableTest, ColumnsAreLeftOutRatherThanNumbersCut) {
  const std::vector<std::vector<std::string>> rows = {{"target", "ms", "MMAC", "bytes"},
                                                      {"raspberry", "12.345", "100.5", "4096"}};
  const std::vector<Column> columns = {
      {.min_width = 6}, {true}, {.right = true, .leave_out = 1}, {.right = true, .leave_out = 2}};
  EXPECT_EQ(TextTable(rows, columns, 22), "target       ms   MMAC\nrasp...  12.345  100.5\nno room for: bytes\n");
  EXPECT_EQ(TextTable(rows, columns, 15), "target       ms\nrasp...  12.345\nno room for: bytes, MMAC\n");
  EXPECT_EQ(TextTable(rows, columns), "target         ms   MMAC  bytes\nraspberry  12.345  100.5   4096\n");
}

TEST(TextTableTest, NotesGoBelowTheirRows) {
  const std::vector<std::vector<std::string>> rows = {
      {"target", "ms", ""}, {"a", "1.5", "a long note"}, {"b", "2.5", ""}};
  const std::vector<Column> columns = {{}, {true}, {.below = true}};
  EXPECT_EQ(TextTable(rows, columns, 12), "target   ms\na       1.5\n    a long note\nb       2.5\n");
  EXPECT_EQ(TextTable(rows, columns, 40), "target   ms\na       1.5  a long note\nb       2.5\n");
}

TEST(TextTableTest, ACellIsOnOneLineAndCannotDriveTheTerminal) {
  EXPECT_EQ(TextTable({{"a\nb\tc", "\033[2J"}}, {false, false}), "a b c  ?[2J\n");
}

TEST(TextTableTest, ColourTakesNoRoom) {
  const auto red = [](size_t row, size_t column, const std::string& text) {
    return row == 1 && column == 0 ? "\033[31m" + text + "\033[0m" : text;
  };
  EXPECT_EQ(TextTable({{"name", "ms"}, {"a", "1"}}, {{}, {true}}, 0, red), "name  ms\n\033[31ma\033[0m      1\n");
}

TEST(TextTableTest, ShortenedKeepsWholeCharacters) {
  EXPECT_EQ(Shortened("abcdef", 0), "abcdef");
  EXPECT_EQ(Shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(Shortened("abcdef", 5), "ab...");
  EXPECT_EQ(Shortened("abcdef", 5, /*keep_end=*/true), "...ef");
  EXPECT_EQ(Shortened("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc", 5), "\xc3\xa4\xc3\xb6...");
  EXPECT_EQ(Shortened("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc", 5, true), "...\xc3\xb6\xc3\xbc");
  EXPECT_EQ(Shortened("abcdef", 2), "..");
  EXPECT_EQ(ShortenedInside("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc", 5, 1), "\xc3\xa4...\xc3\xbc");
  EXPECT_EQ(ShortenedInside("abcdefgh", 5, 9), "ab...");
}

TEST(TextTableTest, PlacesAreLinesOrNodes) {
  EXPECT_EQ(PlaceText("net.py", 7), "net.py:7");
  EXPECT_EQ(PlaceText("net.onnx", 19), "net.onnx node 19");
  EXPECT_EQ(PlaceText("net.tflite", 1), "net.tflite node 1");
  EXPECT_EQ(PlaceText("", 0), "");
}

TEST(TextTableTest, NumbersForPeople) {
  EXPECT_EQ(CountText(25557032), "25.6 M");
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(CountText(4.09e9), "4.09 G");
  EXPECT_EQ(PercentText(0.4123), "41.2 %");
  EXPECT_EQ(MillisecondsText(4210), "4.210");
}

}  // namespace
}  // namespace cobra::client
