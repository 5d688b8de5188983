#include "base/file/csv.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(CsvTest, QuotesAndLineBreaks) {
  const auto table = ParseCsv("a,b\r\n\"x,\"\"y\"\"\n2\",3\n\n,\"\"\n");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(table->header, ElementsAre("a", "b"));
  ASSERT_EQ(table->rows.size(), 2u);
  EXPECT_THAT(table->rows[0].fields, ElementsAre("x,\"y\"\n2", "3"));
  EXPECT_EQ(table->rows[1].line, 5);
  EXPECT_THAT(table->rows[1].fields, ElementsAre("", ""));
  EXPECT_EQ(table->Column("b"), 1);
  EXPECT_EQ(table->Column("c"), -1);
  EXPECT_EQ(CsvLine({"x,\"y\"\n2", "3"}), "\"x,\"\"y\"\"\n2\",3\n");
}

TEST(CsvTest, AByteOrderMarkIsNoPartOfTheHeader) {
  const absl::StatusOr<CsvTable> table = ParseCsv("\xEF\xBB\xBFrow,arch\n1,a\n");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->Column("row"), 0);
}

TEST(CsvTest, DamagedTextIsRefusedByLine) {
  EXPECT_THAT(std::string(ParseCsv("a,b\n1\n").status().message()), HasSubstr("line 2: has 1 fields"));
  EXPECT_THAT(std::string(ParseCsv("a\n\"1\n").status().message()), HasSubstr("line 2: a quoted field does not end"));
  EXPECT_THAT(std::string(ParseCsv("a\n\"1\"2\n").status().message()), HasSubstr("line 2: text after"));
  EXPECT_THAT(std::string(ParseCsv("a;b\n1,5;2\n").status().message()), HasSubstr("line 1: its fields are separated"));
  EXPECT_TRUE(ParseCsv("a,b;c\n1,2\n").ok());
  EXPECT_FALSE(ParseCsv("").ok());
}

}  // namespace
}  // namespace cobra
