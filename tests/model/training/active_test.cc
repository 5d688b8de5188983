#include "model/training/selection/active.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/training/rows/measuring_cost.h"

namespace cobra::training {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

constexpr Strategy kAll[] = {Strategy::kRandom, Strategy::kRandomBySecond, Strategy::kInformation, Strategy::kVariance};

void Add(LayerSet* set, const std::string& kind, float x, float y) {
  set->vectors.width = 2;
  set->vectors.values.insert(set->vectors.values.end(), {x, y});
  set->kinds.push_back(kind);
}

// Two clusters, ten apart: convolutions at (0, 0 ... 1.9), activations at (10, 0 ... 1.9); a second
// each.
SelectionTask TwoClusters() {
  SelectionTask task;
  for (int i = 0; i < 20; ++i) {
    Add(&task.pool, "conv2d", 0, 0.1f * static_cast<float>(i));
    Add(&task.pool, "relu", 10, 0.1f * static_cast<float>(i));
  }
  task.cost_s.assign(task.pool.size(), 1);
  task.targets = task.pool;
  return task;
}

constexpr Strategy kRules[] = {Strategy::kInformation, Strategy::kVariance};

Selection Select(const SelectionTask& task, double budget_s, Strategy strategy, uint64_t seed = 1) {
  SelectionOptions options;
  options.budget_s = budget_s;
  options.strategy = strategy;
  options.seed = seed;
  options.shortlist = 0;
  absl::StatusOr<Selection> selection = SelectLayers(task, options);
  EXPECT_TRUE(selection.ok()) << selection.status();
  return selection.ok() ? *std::move(selection) : Selection{};
}

std::string FirstKind(const SelectionTask& task, Strategy rule) {
  const Selection selection = Select(task, 1, rule);
  return selection.chosen.empty() ? "none" : task.pool.kinds[selection.chosen[0]];
}

TEST(ActiveTest, NeverExceedsTheBudgetAndChoosesNothingTwice) {
  SelectionTask task = TwoClusters();
  for (size_t i = 0; i < task.cost_s.size(); ++i) task.cost_s[i] = 0.05 + 0.13 * static_cast<double>(i % 7);
  for (Strategy strategy : kAll) {
    for (double budget_s : {0.01, 0.3, 2.0, 7.7, 1000.0}) {
      const Selection selection = Select(task, budget_s, strategy);
      double seconds = 0;
      for (size_t i : selection.chosen) seconds += task.cost_s[i];
      EXPECT_LE(seconds, budget_s) << StrategyName(strategy);
      EXPECT_NEAR(seconds, selection.seconds, 1e-9);
      EXPECT_EQ(std::set<size_t>(selection.chosen.begin(), selection.chosen.end()).size(), selection.chosen.size());
    }
    EXPECT_EQ(Select(task, 1000, strategy).chosen.size(), task.pool.size()) << StrategyName(strategy);
  }
}

TEST(ActiveTest, TheSameTaskGivesTheSameChoice) {
  const SelectionTask task = TwoClusters();
  for (Strategy strategy : kAll) EXPECT_EQ(Select(task, 10, strategy, 5).chosen, Select(task, 10, strategy, 5).chosen);
  EXPECT_NE(Select(task, 10, Strategy::kRandom, 5).chosen, Select(task, 10, Strategy::kRandom, 6).chosen);
  EXPECT_NE(Select(task, 10, Strategy::kRandomBySecond, 5).chosen,
            Select(task, 10, Strategy::kRandomBySecond, 6).chosen);
}

TEST(ActiveTest, ShortlistLengthFollowsTheOption) {
  const SelectionTask task = TwoClusters();
  for (Strategy rule : kRules) {
    SelectionOptions options;
    options.budget_s = 5;
    options.strategy = rule;
    options.shortlist = 1;  // nothing to choose from: what random gives
    const auto by_rule = SelectLayers(task, options);
    options.strategy = Strategy::kRandomBySecond;
    const auto at_random = SelectLayers(task, options);
    ASSERT_TRUE(by_rule.ok() && at_random.ok());
    int common = 0;
    for (size_t i : by_rule->chosen) common += std::count(at_random->chosen.begin(), at_random->chosen.end(), i) > 0;
    EXPECT_GE(common, 4) << StrategyName(rule);
  }
}

TEST(ActiveTest, OfTwinsOneIsChosen) {
  SelectionTask task = TwoClusters();
  task.pool = {};
  Add(&task.pool, "conv2d", 0, 1);
  Add(&task.pool, "conv2d", 0, 1);
  Add(&task.pool, "relu", 10, 0.3f);
  task.cost_s = {1, 1, 1};
  SelectionTask known = task;
  Add(&known.measured, "conv2d", 0, 1);
  for (Strategy rule : kRules) {
    const Selection selection = Select(task, 3, rule);
    EXPECT_EQ(selection.chosen.size(), 2u) << StrategyName(rule);
    EXPECT_THAT(selection.chosen, Contains(2));
    EXPECT_THAT(Select(known, 3, rule).chosen, ElementsAre(2));  // nor one whose twin has been measured
  }
}

TEST(ActiveTest, SpreadsOverWhatWillBeAsked) {
  const SelectionTask task = TwoClusters();
  for (Strategy rule : kRules) {
    int convolutions = 0;
    for (size_t i : Select(task, 8, rule).chosen) convolutions += task.pool.kinds[i] == "conv2d";
    EXPECT_NEAR(convolutions, 4, 1) << StrategyName(rule);
  }
}

TEST(ActiveTest, PrefersKindsThatWereNeverMeasured) {
  SelectionTask task = TwoClusters();
  for (int i = 0; i < 10; ++i) Add(&task.measured, "conv2d", 0.05f, 0.2f * static_cast<float>(i));
  for (Strategy rule : kRules) EXPECT_EQ(FirstKind(task, rule), "relu") << StrategyName(rule);
  for (int i = 0; i < 40; ++i) Add(&task.measured, "relu", 10.05f, 0.05f * static_cast<float>(i));
  for (Strategy rule : kRules) EXPECT_EQ(FirstKind(task, rule), "conv2d") << StrategyName(rule);
}

TEST(ActiveTest, PrefersWhereTheModelErrs) {
  SelectionTask task = TwoClusters();
  for (int i = 0; i < 10; ++i) {
    Add(&task.tried, "conv2d", 0.05f, 0.2f * static_cast<float>(i));
    Add(&task.tried, "relu", 10.05f, 0.2f * static_cast<float>(i));
    task.tried_error.insert(task.tried_error.end(), {0.02, 0.4});
  }
  for (Strategy rule : kRules) EXPECT_EQ(FirstKind(task, rule), "relu") << StrategyName(rule);
  for (size_t i = 0; i < task.tried_error.size(); i += 2) std::swap(task.tried_error[i], task.tried_error[i + 1]);
  for (Strategy rule : kRules) EXPECT_EQ(FirstKind(task, rule), "conv2d") << StrategyName(rule);
}

TEST(ActiveTest, AKindThatWasNeverTriedIsAsHardAsTheHardest) {
  SelectionTask task = TwoClusters();
  for (int i = 0; i < 10; ++i) Add(&task.tried, "conv2d", 0.05f, 0.2f * static_cast<float>(i));
  task.tried_error.assign(10, 0.05);
  Add(&task.tried, "bmm", 50, 50);
  task.tried_error.push_back(0.6);
  for (Strategy rule : kRules) EXPECT_EQ(FirstKind(task, rule), "relu") << StrategyName(rule);
}

TEST(ActiveTest, WeighsWhatALayerTeachesAgainstItsCost) {
  SelectionTask task = TwoClusters();
  for (size_t i = 0; i < task.cost_s.size(); i += 2) task.cost_s[i] = 3;  // convolutions
  for (Strategy rule : kRules) {
    EXPECT_EQ(FirstKind(task, rule), "relu") << StrategyName(rule);
    const Selection selection = Select(task, 12, rule);
    int convolutions = 0;
    for (size_t i : selection.chosen) convolutions += task.pool.kinds[i] == "conv2d";
    EXPECT_GT(convolutions, 0) << StrategyName(rule);
    EXPECT_LE(2 * convolutions, static_cast<int>(selection.chosen.size())) << StrategyName(rule);
  }
}

TEST(ActiveTest, RefusesSetsThatDoNotAgree) {
  SelectionTask task = TwoClusters();
  task.cost_s.pop_back();
  EXPECT_FALSE(SelectLayers(task, {}).ok());
  task = TwoClusters();
  task.cost_s[3] = 0;
  EXPECT_FALSE(SelectLayers(task, {}).ok());
  task = TwoClusters();
  task.tried_error = {0.1};
  EXPECT_FALSE(SelectLayers(task, {}).ok());
}

TEST(MeasuringCostTest, FollowsTheRulesOfASeries) {
  EXPECT_NEAR(ExpectedSeconds(5, 1000), 0.041, 0.003);  // overhead and warm-up
  EXPECT_GT(ExpectedSeconds(1000, 1 << 20), 1.5 * ExpectedSeconds(100, 1 << 20));
  EXPECT_NEAR(ExpectedSeconds(20e3, 1 << 26), 0.45, 0.1);  // a quarter of a second of runs
  store::Measurement one_run, two_runs;
  one_run.latency.runs = 1;
  one_run.latency.mean_us = 1000;
  two_runs = one_run;
  two_runs.latency.runs = 2;
  EXPECT_NEAR(RecordedSeconds(two_runs) - RecordedSeconds(one_run), 1e-3, 1e-12);
}

}  // namespace
}  // namespace cobra::training
