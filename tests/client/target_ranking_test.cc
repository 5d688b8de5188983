#include "client/answer/target_ranking.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "client/explain/targets_explained.h"
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

using testing::HasSubstr;
using testing::Not;

void Add(v1::PredictResponse* response, const char* name, double latency_us, double factor, double conv_us) {
  v1::TargetPrediction* p = response->add_predictions();
  p->set_target(name);
  p->set_latency_us(latency_us);
  p->set_low_us(latency_us / factor);
  p->set_high_us(latency_us * factor);
  p->set_coverage(0.9);
  v1::NodeLatency* conv = p->add_breakdown();
  conv->set_op("conv2d");
  conv->set_latency_us(conv_us);
  v1::NodeLatency* relu = p->add_breakdown();
  relu->set_op("relu");
  relu->set_latency_us(latency_us - conv_us);
}

v1::PredictResponse ThreeTargets() {
  v1::PredictResponse response;
  Add(&response, "slow", 2000, 1.1, 1900);
  Add(&response, "fast", 1000, 1.1, 990);
  Add(&response, "close", 1050, 1.1, 1040);
  return response;
}

TEST(TargetRankingTest, TheFastestIsFirstAndOthersHaveARatioWithItsInterval) {
  const std::vector<RankedTarget> ranked = RankTargets(ThreeTargets());
  ASSERT_EQ(ranked.size(), 3);
  EXPECT_EQ(ranked[0].name, "fast");
  EXPECT_EQ(ranked[1].name, "close");
  EXPECT_NEAR(ranked[1].ratio, 1.05, 1e-9);
  EXPECT_FALSE(ranked[1].is_slower);
  EXPECT_EQ(ranked[2].name, "slow");
  EXPECT_TRUE(ranked[2].is_slower);
  // Two errors of 10 %: 1.1 to the power of the root of 2.
  EXPECT_NEAR(ranked[2].ratio_low, 2 / 1.1443, 1e-3);
  EXPECT_NEAR(ranked[2].ratio_high, 2 * 1.1443, 1e-3);
}

TEST(TargetRankingTest, WhatDoesNotFitIsNoneOfTheFastest) {
  v1::PredictResponse response = ThreeTargets();
  response.set_peak_memory_bytes(30'000'000'000);
  response.mutable_predictions(0)->set_coverage(0);  // slow: a guess
  TargetSheets sheets;
  for (const char* name : {"slow", "fast", "close"}) sheets[name].set_memory_gb(40);
  sheets["fast"].set_memory_gb(24);
  const std::vector<RankedTarget> ranked = RankTargets(response, sheets);
  EXPECT_EQ(ranked[0].name, "close");
  EXPECT_EQ(ranked[1].name, "slow");
  EXPECT_EQ(ranked[2].lacks_memory, "needs 30 GB of 24 GB");
  const std::string text = RankingText(response, {}, nullptr, sheets);
  EXPECT_THAT(text, HasSubstr("fastest: close (1 guess not ranked; 1 without enough memory)\n"));
  EXPECT_THAT(text, HasSubstr("needs 30 GB of 24 GB"));
  EXPECT_EQ(RankingJson(response, sheets)[2]["lacks_memory"], "needs 30 GB of 24 GB");
  response.mutable_predictions(1)->set_peak_memory_bytes(10'000'000'000);  // of half the precision there
  EXPECT_EQ(RankTargets(response, sheets)[0].name, "fast");
  for (auto& [name, sheet] : sheets) sheet.set_memory_gb(1);
  EXPECT_THAT(RankingText(response, {}, nullptr, sheets), HasSubstr("no target has enough memory for the network"));
  for (auto& [name, sheet] : sheets) sheet.set_memory_gb(0);  // unknown
  EXPECT_EQ(RankTargets(response, sheets)[0].name, "fast");
}

TEST(TargetRankingTest, AnIntervalWithoutCoverageShowsNothing) {
  v1::PredictResponse response = ThreeTargets();
  response.mutable_predictions(0)->set_coverage(0);
  EXPECT_FALSE(RankTargets(response)[2].is_slower);
  response.mutable_predictions(1)->set_coverage(0);  // the fastest is a guess, so it is not called the fastest
  EXPECT_EQ(RankTargets(response)[0].name, "close");
  EXPECT_TRUE(RankTargets(response)[1].is_guess);
  EXPECT_THAT(RankingText(response), HasSubstr("fastest: close (2 guesses not ranked)"));
  response.mutable_predictions(2)->set_coverage(0);
  EXPECT_THAT(RankingText(response), HasSubstr("fastest by a guess: fast"));
}

TEST(TargetRankingTest, TextNamesTheFastestAndWhatIsNotCertain) {
  const std::string text = RankingText(ThreeTargets());
  EXPECT_THAT(text, HasSubstr("fastest: fast (1 other is within the error)\n"));
  EXPECT_THAT(text, testing::ContainsRegex("close +1.05 +0.92 +1.20 +may be faster"));
  EXPECT_THAT(text, testing::ContainsRegex("slow +2.00 +1.75 +2.29"));
  v1::PredictResponse one;
  Add(&one, "fast", 1000, 1.1, 990);
  EXPECT_EQ(RankingText(one), "");
}

TEST(TargetRankingTest, WhereOnlyTheFastestAreShownTheFirstLineIsAboutAll) {
  v1::PredictResponse all;
  for (int i = 0; i < 15; ++i) Add(&all, absl::StrCat("t", i).c_str(), 1000 + i, 1.1, 900);
  for (int i = 15; i < 22; ++i) {
    Add(&all, absl::StrCat("t", i).c_str(), 1, 1.1, 1);
    all.mutable_predictions(i)->set_coverage(0);
  }
  const v1::PredictResponse fastest = FastestOf(all);
  ASSERT_EQ(fastest.predictions_size(), 10);
  EXPECT_EQ(fastest.predictions(9).target(), "t9");
  const std::string text = RankingText(fastest, {}, &all);
  EXPECT_THAT(text, HasSubstr("fastest: t0 (14 others are within the error; 7 guesses not ranked)\n"));
  EXPECT_THAT(text, HasSubstr("\nt9 "));
  EXPECT_THAT(text, Not(HasSubstr("\nt10 ")));
}

TEST(TargetRankingTest, OperatorsThatDifferMostComeFirst) {
  const std::string text = TargetsExplainedText(ThreeTargets(), "net", 1);
  EXPECT_THAT(text, HasSubstr("conv2d"));
  EXPECT_THAT(text, Not(HasSubstr("relu")));
  EXPECT_THAT(text, HasSubstr("1 more operator: --top 2"));
  const nlohmann::json all = nlohmann::json::parse(TargetsExplainedJson(ThreeTargets(), "net"));
  EXPECT_EQ(all["operators"][0]["op"], "conv2d");
  EXPECT_EQ(all["operators"][0]["latency_us"]["slow"], 1900);
  EXPECT_EQ(all["operators"][1]["calls"]["fast"], 1);
  EXPECT_EQ(all["ranking"][0]["target"], "fast");
}

}  // namespace
}  // namespace cobra::client
