#include "graph/attributes.h"

#include "gtest/gtest.h"

namespace cobra::graph {
namespace {

TEST(AttributesTest, TextIsPythons) {
  EXPECT_EQ(AttributeText(1e-05), "1e-05");
  EXPECT_EQ(AttributeText(6.0), "6.0");
  EXPECT_EQ(AttributeText(0.1), "0.1");
  EXPECT_EQ(AttributeText(1e16), "1e+16");
  EXPECT_EQ(AttributeText(123456.789), "123456.789");
  EXPECT_EQ(AttributeText(-0.25), "-0.25");
  EXPECT_EQ(AttributeText(std::vector<int64_t>{2, 2}), "(2,2)");
  EXPECT_EQ(AttributeText(std::vector<int64_t>{7}), "(7,)");
  EXPECT_EQ(AttributeText(std::string("none")), "'none'");
  EXPECT_EQ(AttributeText(true), "True");
  EXPECT_EQ(AttributeText(NoneValue{}), "None");
}

TEST(AttributesTest, ANameMayBeEmpty) {
  Attributes attributes{{"p", int64_t{2}}};
  EXPECT_EQ(attributes.Find(""), nullptr);
  attributes.Set("", int64_t{7});
  EXPECT_EQ(attributes.Int(""), 7);
}

TEST(AttributesTest, NumbersConvertWhereTheyCan) {
  Attributes attributes{{"p", int64_t{2}}, {"dims", std::vector<int64_t>{1, 2}}, {"none", NoneValue{}}};
  EXPECT_EQ(attributes.Double("p"), 2.0);
  EXPECT_EQ(attributes.Ints("p"), std::vector<int64_t>{2});
  EXPECT_EQ(attributes.Int("dims", 7), 7);
  EXPECT_EQ(attributes.Double("none", 0.5), 0.5);
  EXPECT_EQ(attributes.IntSpan("p"), absl::MakeConstSpan(std::vector<int64_t>{2}));
  EXPECT_EQ(attributes.IntSpan("dims").size(), 2u);
  EXPECT_TRUE(attributes.IntSpan("none").empty());
  attributes.Set("p", 0.5);
  EXPECT_EQ(attributes.size(), 3u);
  EXPECT_EQ(attributes.Double("p"), 0.5);
}

}  // namespace
}  // namespace cobra::graph
