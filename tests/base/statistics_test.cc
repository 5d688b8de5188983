#include "base/statistics.h"

#include "gtest/gtest.h"

namespace cobra {
namespace {

TEST(StatisticsTest, OfAnOddNumberBothMediansAreTheMiddleValue) {
  EXPECT_EQ(Median({5, 1, 3}), 3);
  EXPECT_EQ(UpperMedian({5, 1, 3}), 3);
  EXPECT_EQ(Median({7}), 7);
  EXPECT_EQ(UpperMedian({7}), 7);
}

TEST(StatisticsTest, OfAnEvenNumberTheyDiffer) {
  EXPECT_EQ(Median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(UpperMedian({4, 1, 3, 2}), 3);
  EXPECT_EQ(Median({2, 2, 2, 9}), 2);
}

TEST(StatisticsTest, OfNothingBothAreZero) {
  EXPECT_EQ(Median({}), 0);
  EXPECT_EQ(UpperMedian({}), 0);
}

}  // namespace
}  // namespace cobra
