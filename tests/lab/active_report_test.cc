#include "lab/replay/active_report.h"

#include <cmath>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra::lab {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ReplayCurve Curve(training::Strategy strategy, std::vector<ReplayPoint> points) {
  ReplayCurve curve;
  curve.strategy = strategy;
  curve.points = std::move(points);
  return curve;
}

TEST(ActiveReportTest, SpeedUpIsTheRatioOfSecondsAtTheSameError) {
  ActiveTable table;
  table.curves = {
      Curve(training::Strategy::kRandom, {{10, 1, 0.8, 0.8, 0.8}, {20, 2, 0.4, 0.4, 0.4}, {40, 4, 0.2, 0.2, 0.2}}),
      Curve(training::Strategy::kVariance, {{10, 1, 0.4, 0.4, 0.4}, {20, 2, 0.2, 0.2, 0.2}, {40, 4, 0.1, 0.1, 0.1}})};
  EXPECT_NEAR(SecondsToReach(table.curves[0], &ReplayPoint::mean, 0.4), 20, 1e-9);
  EXPECT_NEAR(SecondsToReach(table.curves[0], &ReplayPoint::mean, std::sqrt(0.08)), 20 * std::sqrt(2), 1e-9);
  EXPECT_TRUE(std::isinf(SecondsToReach(table.curves[0], &ReplayPoint::mean, 0.1)));
  const std::vector<SpeedUp> speed_ups = SpeedUps(table);
  ASSERT_EQ(speed_ups.size(), 6u);  // three figures, two rounds after the common one
  EXPECT_EQ(speed_ups[1].figure, "mean error");
  EXPECT_NEAR(speed_ups[0].by_seed[0], 2, 1e-9);
  EXPECT_NEAR(speed_ups[1].by_seed[0], 2, 1e-9);
  EXPECT_THAT(ActiveTableToMarkdown(table, "x"), HasSubstr("| mean error | 20.0 % | 40 s | variance | 2.00 |"));
  EXPECT_THAT(ActiveTableToSvg(table), HasSubstr("variance</text>"));
  EXPECT_THAT(ActiveTableToSvg(table), Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace cobra::lab
