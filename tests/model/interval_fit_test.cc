#include "model/train/interval_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace cobra {
namespace {

// Rows of two kinds, one predicted four times as well as the other; 20 further numbers of the embedding say nothing.
TEST(FitSpread, TellsKindsApart) {
  std::mt19937 random(7);
  std::normal_distribution<float> noise;
  std::vector<std::vector<float>> embeddings;
  std::vector<double> off_by;
  for (int i = 0; i < 400; ++i) {
    std::vector<float> e = {i % 2 == 0 ? 1.f : -1.f};
    while (e.size() < 21) e.push_back(noise(random));
    off_by.push_back((i % 2 == 0 ? 0.2 : 0.05) * std::fabs(static_cast<double>(noise(random))));
    embeddings.push_back(std::move(e));
  }
  const SpreadModel model = FitSpread(embeddings, off_by);
  std::vector<float> good(21, 0.f), bad(21, 0.f);
  good[0] = -1, bad[0] = 1;
  const double ratio = SpreadOf(model, bad) / SpreadOf(model, good);
  EXPECT_GT(ratio, 2.5);
  EXPECT_LT(ratio, 6);
}

TEST(FitSpread, OfFewRowsIsOneForAll) {
  const SpreadModel model = FitSpread(std::vector<std::vector<float>>(10, {1, 2}), std::vector<double>(10, 0.1));
  EXPECT_EQ(SpreadOf(model, {1, 2}), 1);
}

// An embedding far from all that it was fitted to does not make an interval of e^30 times the width.
TEST(SpreadOf, IsBounded) {
  const SpreadModel model = {0, {10}};
  EXPECT_NEAR(SpreadOf(model, {100}), std::exp(3), 1e-9);
  EXPECT_NEAR(SpreadOf(model, {-100}), std::exp(-3), 1e-9);
}

}  // namespace
}  // namespace cobra
