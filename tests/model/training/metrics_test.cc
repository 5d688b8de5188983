#include "model/training/rows/metrics.h"

#include <gtest/gtest.h>

namespace cobra::training {
namespace {

TEST(Metrics, CountsShares) {
  const Metrics m = ComputeMetrics({100.5, 104, 109, 120, 300}, {100, 100, 100, 100, 100});
  EXPECT_DOUBLE_EQ(m.within_1, 0.2);
  EXPECT_DOUBLE_EQ(m.within_5, 0.4);
  EXPECT_DOUBLE_EQ(m.within_10, 0.6);
  EXPECT_DOUBLE_EQ(m.within_25, 0.8);
  EXPECT_NEAR(m.mape, (0.005 + 0.04 + 0.09 + 0.2 + 2) / 5, 1e-12);
  EXPECT_EQ(m.n, 5);
  EXPECT_EQ(ComputeMetrics({}, {}).n, 0);
}

TEST(Metrics, SpearmanIsAboutOrder) {
  EXPECT_NEAR(ComputeMetrics({1, 4, 9, 100}, {1, 2, 3, 4}).spearman, 1, 1e-12);
  EXPECT_NEAR(ComputeMetrics({4, 3, 2, 1}, {1, 2, 3, 4}).spearman, -1, 1e-12);
  EXPECT_NEAR(ComputeMetrics({1, 1, 1, 1}, {1, 2, 3, 4}).spearman, 0, 1e-12);
}

TEST(Metrics, ConformalQuantileTakesTheFiniteSampleRank) {
  std::vector<double> scores;
  for (int i = 1; i <= 99; ++i) scores.push_back(i);
  EXPECT_EQ(ConformalQuantile(scores, 0.9), 90);  // ceil(100 * 0.9)
  EXPECT_EQ(ConformalQuantile({1, 2, 3}, 0.9), 3);
  EXPECT_EQ(ConformalQuantile({}, 0.9), 0);
}

}  // namespace
}  // namespace cobra::training
