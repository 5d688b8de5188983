#include "model/predict/target/disturbance.h"

#include <cmath>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra::predict {
namespace {

TEST(Disturbance, AFewTimingsSayNothing) {
  EXPECT_EQ(DisturbanceOf({}).timings, 0);
  const Disturbance few = DisturbanceOf(std::vector<double>(kFewestDisturbanceTimings - 1, 1.5));
  EXPECT_EQ(few.timings, 0);
  EXPECT_EQ(few.typical, 1);
  EXPECT_FALSE(IsNoticeable(few));
}

TEST(Disturbance, IsMedianAndTwentiethsOfTheRatios) {
  std::vector<double> ratios;
  for (int i = 99; i > 0; --i) ratios.push_back(1 + i / 100.0);  // 1.01 to 1.99
  const Disturbance disturbance = DisturbanceOf(ratios);
  EXPECT_EQ(disturbance.timings, 99);
  EXPECT_NEAR(disturbance.typical, 1.5, 1e-9);
  EXPECT_NEAR(disturbance.low, 1.05, 1e-9);
  EXPECT_NEAR(disturbance.high, 1.95, 1e-9);
  EXPECT_TRUE(IsNoticeable(disturbance));
}

TEST(Disturbance, AQuietMachineIsNotWorthAWord) {
  EXPECT_FALSE(IsNoticeable(DisturbanceOf({1, 1.01, 1.01, 1.02, 1.02, 1.02, 1.03, 1.03, 1.04, 1.06})));
}

TEST(Disturbance, OneOfManyNeighboursDoesNotDecideTheTypicalRatio) {
  std::vector<double> ratios(60, 1.01);
  ratios.push_back(9);
  const Disturbance disturbance = DisturbanceOf(ratios);
  EXPECT_NEAR(disturbance.typical, 1.01, 1e-9);
  EXPECT_LT(disturbance.high, 2);
}

TEST(Disturbance, TheMiddleMovesAndBothSidesWiden) {
  const Disturbance disturbance = {1.2, 1.0, 1.5, 40};
  const TimeInterval here = OnDisturbedMachine({100, 95, 105}, disturbance);
  EXPECT_NEAR(here.middle, 120, 1e-9);
  EXPECT_LT(here.low, 100);
  EXPECT_GT(here.low, 95);  // errors that are independent are rarely both at their ends
  EXPECT_GT(here.high, 150);
  EXPECT_LT(here.high, 105 * 1.5);
  const TimeInterval quiet = OnDisturbedMachine({100, 95, 105}, {1, 1, 1, 40});
  EXPECT_NEAR(quiet.middle, 100, 1e-9);
  EXPECT_NEAR(quiet.low, 95, 1e-9);
  EXPECT_NEAR(quiet.high, 105, 1e-9);
}

// Neighbours that come and go make networks take from 1 to 1.4 times as long; the model is off by 5
// %.
TEST(Disturbance, NineOfTenTimingsLieInTheInterval) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> share(0, 1);
  std::normal_distribution<double> error(0, 0.05);
  const auto ratio = [&] { return share(random) < 0.4 ? 1 + 0.02 * share(random) : 1.1 + 0.3 * share(random); };
  std::vector<double> ratios;
  for (int i = 0; i < 40; ++i) ratios.push_back(ratio());
  const Disturbance disturbance = DisturbanceOf(ratios);
  const double end = std::exp(1.645 * 0.05);
  int inside = 0;
  constexpr int kTimings = 4000;
  for (int i = 0; i < kTimings; ++i) {
    const double predicted = 100 * std::exp(error(random));
    const TimeInterval here = OnDisturbedMachine({predicted, predicted / end, predicted * end}, disturbance);
    const double seen = 100 * ratio();
    inside += here.low <= seen && seen <= here.high;
  }
  EXPECT_GT(inside, 0.85 * kTimings);
  EXPECT_LT(inside, 0.97 * kTimings);
}

TEST(Disturbance, IsSaidInWords) {
  EXPECT_THAT(DisturbanceText({1.18, 1.02, 1.31, 57}), testing::HasSubstr("1.18 times their undisturbed time"));
}

}  // namespace
}  // namespace cobra::predict
