#include "client/text_table.h"

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

TEST(TextTableTest, CutsOnlyTheColumnsThatMayBeCut) {
  const std::vector<std::vector<std::string>> rows = {{"ms", "module"}, {"12.345", "encoder.layers.11.mlp.fc1"}};
  EXPECT_EQ(TextTable(rows, {{true}, {false, 8, /*keep_end=*/true}}, 20), "    ms  module\n12.345  ...1.mlp.fc1\n");
  // At its least width nothing more is cut from the column, the line ends at the terminal's edge.
  EXPECT_EQ(TextTable(rows, {{true}, {false, 8, true}}, 10), "    ms ...\n12.345 ...\n");
  EXPECT_EQ(TextTable(rows, {{true}, {false, 8}}, 20), "    ms  module\n12.345  encoder.l...\n");
}

TEST(TextTableTest, ShortenedKeepsWholeCharacters) {
  EXPECT_EQ(Shortened("abcdef", 0), "abcdef");
  EXPECT_EQ(Shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(Shortened("abcdef", 5), "ab...");
  EXPECT_EQ(Shortened("abcdef", 5, /*keep_end=*/true), "...ef");
  EXPECT_EQ(Shortened("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc", 5), "\xc3\xa4\xc3\xb6...");
  EXPECT_EQ(Shortened("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc", 5, true), "...\xc3\xb6\xc3\xbc");
  EXPECT_EQ(Shortened("abcdef", 2), "..");
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
