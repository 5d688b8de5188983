#include "lab/tables/run/coverage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace cobra::lab {
namespace {

// Values of R's binom.test.
TEST(ExactBand, IsClopperAndPearsonsWithoutCalibration) {
  const Band ninety = ExactBand(90, 100, 0);
  EXPECT_NEAR(ninety.low, 0.82378, 1e-4);
  EXPECT_NEAR(ninety.high, 0.95099, 1e-4);
  const Band nine = ExactBand(9, 10, 0);
  EXPECT_NEAR(nine.low, 0.55498, 1e-4);
  EXPECT_NEAR(nine.high, 0.99747, 1e-4);
  const Band none = ExactBand(0, 10, 0);
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 0.30850, 1e-4);
  const Band all = ExactBand(10, 10, 0);
  EXPECT_NEAR(all.low, 0.69150, 1e-4);
  EXPECT_EQ(all.high, 1);
}

// Of n = 2 with a = b = 1 every number inside has a third.
TEST(BetaBinomial, HasKnownProbabilities) {
  EXPECT_NEAR(BetaBinomialAtMost(0, 2, 1, 1), 1.0 / 3, 1e-12);
  EXPECT_NEAR(BetaBinomialAtMost(1, 2, 1, 1), 2.0 / 3, 1e-12);
  EXPECT_NEAR(BetaBinomialAtMost(2, 2, 1, 1), 1, 1e-12);
  EXPECT_NEAR(BetaBinomialAtMost(1, 3, 2, 3), 0.2857142857 + 0.3428571429, 1e-9);  // C(3,k) B(k + 2, 6 - k) / B(2, 3)
}

TEST(ExactBand, IsWiderTheFewerItemsCalibrated) {
  const Band exact = ExactBand(180, 200, 0), many = ExactBand(180, 200, 100000), few = ExactBand(180, 200, 100);
  EXPECT_NEAR(exact.low, many.low, 1e-3);
  EXPECT_NEAR(exact.high, many.high, 1e-3);
  EXPECT_LT(few.low, exact.low - 0.01);
  EXPECT_GT(few.high, exact.high + 0.005);
  EXPECT_LT(few.low, 0.9);
  EXPECT_GT(few.high, 0.9);
}

// Nominal intervals of random errors lie inside the band about 95 times in a hundred.
TEST(Coverage, OfAPerfectMethodLiesInTheBand) {
  std::mt19937 random(7);
  std::normal_distribution<double> error(0, 0.05);
  int inside = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> predicted(500, 10), measured;
    std::vector<int> fold;
    for (int i = 0; i < 500; ++i) {
      measured.push_back(10 * std::exp(error(random)));
      fold.push_back(i % 5);
    }
    const MetricValues figures =
        IntervalMetricValues(predicted, measured, CrossConformalHalfWidths(predicted, measured, fold), 400);
    ASSERT_EQ(figures[0].first, "covered_90");
    inside += figures[1].second <= 0.9 && 0.9 <= figures[2].second;
  }
  EXPECT_GE(inside, 185);
}

// What a method knows of its own fold does not enter that fold's interval.
TEST(CrossConformal, TakesTheOtherFoldsErrors) {
  const std::vector<double> predicted(40, 1);
  std::vector<double> measured(40, std::exp(0.1));
  std::vector<int> fold(40, 0);
  for (size_t i = 20; i < 40; ++i) measured[i] = std::exp(0.3), fold[i] = 1;
  const std::vector<double> half = CrossConformalHalfWidths(predicted, measured, fold);
  EXPECT_NEAR(half[0], 0.3, 1e-9);
  EXPECT_NEAR(half[39], 0.1, 1e-9);
  const MetricValues figures = IntervalMetricValues(predicted, measured, half, 20);
  EXPECT_NEAR(figures[0].second, 0.5, 1e-9);
}

}  // namespace
}  // namespace cobra::lab
