#include "model/training/evaluation/interval_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace cobra::training {
namespace {

// Rows of two kinds, one predicted four times as well as the other; 20 further numbers of the
// embedding say nothing.
TEST(FitSpread, DistinguishesKinds) {
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
  const SpreadFit fit = FitSpread(embeddings, off_by);
  const predict::SpreadModel& model = fit.model;
  std::vector<float> good(21, 0.f), bad(21, 0.f);
  good[0] = -1, bad[0] = 1;
  const double ratio = predict::SpreadOf(model, bad) / predict::SpreadOf(model, good);
  EXPECT_GT(ratio, 2.5);
  EXPECT_LT(ratio, 6);
  // It is what nine of ten stay below, of rows that it has not seen too, and of each kind.
  for (size_t kind : {0, 1}) {
    double inside = 0;
    for (size_t i = kind; i < off_by.size(); i += 2) inside += off_by[i] <= fit.out_of_fold[i];
    EXPECT_NEAR(inside / 200, 0.9, 0.05) << kind;
  }
}

// Twelve families, distinguished by their embeddings; of one the errors are twenty times as large.
// No row of it says so of another one: a family that was never seen would not be known either.
TEST(FitSpread, HoldsFamiliesAgainstOtherFamilies) {
  std::mt19937 random(7);
  std::normal_distribution<float> noise;
  std::vector<std::vector<float>> embeddings;
  std::vector<double> off_by;
  std::vector<int64_t> family;
  for (int i = 0; i < 480; ++i) {
    std::vector<float> e(12, 0.f);
    e[static_cast<size_t>(i / 40)] = 3;
    embeddings.push_back(std::move(e));
    off_by.push_back((i / 40 == 5 ? 1 : 0.05) * std::fabs(static_cast<double>(noise(random))));
    family.push_back(i / 40);
  }
  const auto mean_of_fifth = [](const SpreadFit& fit) {
    return std::accumulate(fit.out_of_fold.begin() + 200, fit.out_of_fold.begin() + 240, 0.0) / 40;
  };
  EXPECT_GT(mean_of_fifth(FitSpread(embeddings, off_by)), 0.6);
  EXPECT_LT(mean_of_fifth(FitSpread(embeddings, off_by, family)), 0.3);
}

TEST(FitSpread, OfFewRowsIsOneForAll) {
  const SpreadFit fit = FitSpread(std::vector<std::vector<float>>(10, {1, 2}), std::vector<double>(10, 0.1));
  EXPECT_EQ(predict::SpreadOf(fit.model, {1, 2}), 1);
  EXPECT_EQ(fit.out_of_fold, std::vector<double>(10, 1));
}

// An embedding far from all that it was fitted to does not make an interval of e^30 times the
// width.
TEST(SpreadOf, IsBounded) {
  const predict::SpreadModel model = {0, {10}, -3, 3};
  EXPECT_NEAR(predict::SpreadOf(model, {100}), std::exp(3), 1e-9);
  EXPECT_NEAR(predict::SpreadOf(model, {-100}), std::exp(-3), 1e-9);
}

}  // namespace
}  // namespace cobra::training
