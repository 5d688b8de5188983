#include "client/series/sweep.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/json.h"
#include "base/user_error.h"
#include "client/series/sweep_render.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

using testing::HasSubstr;
using testing::Not;

SweepPoint Point(int64_t batch, double ms, int64_t memory_bytes = 0) {
  SweepPoint point;
  point.batch = batch;
  point.peak_memory_bytes = memory_bytes;
  point.prediction.set_latency_us(1000 * ms);
  point.prediction.set_low_us(900 * ms);
  point.prediction.set_high_us(1100 * ms);
  point.prediction.set_coverage(0.9);
  point.prediction.set_confidence(0.95);
  return point;
}

SweepPoint Failed(int64_t batch) {
  SweepPoint point;
  point.batch = batch;
  point.status = UserError(Diagnostic::Kind::kModelError, "RuntimeError: shape '[1, 8]' is invalid", "look there");
  return point;
}

// 100, 182, 300, 381, 390 a second; a GB each 8.
TargetSweep Saturating() {
  TargetSweep target;
  target.spec.set_name("cpu");
  target.points = {Point(1, 10, 1'000'000'000), Point(2, 11, 1'250'000'000), Point(4, 13.33, 1'750'000'000),
                   Point(8, 21, 2'750'000'000), Point(16, 41, 4'750'000'000)};
  return target;
}

TEST(KneeTest, TheSmallestBatchWithNineTenthsOfTheBestThroughput) {
  const Knee knee = KneeOf(Saturating()).value();
  EXPECT_EQ(knee.point, 3u);
  EXPECT_EQ(knee.best, 4u);
  EXPECT_FALSE(knee.is_last);
  EXPECT_FALSE(knee.is_guess);
}

TEST(KneeTest, WhatDoesNotFitDoesNotCount) {
  TargetSweep target = Saturating();
  target.memory_gb = 2;
  const Knee knee = KneeOf(target).value();
  EXPECT_EQ(knee.point, 2u);
  EXPECT_EQ(knee.best, 2u);
  EXPECT_TRUE(knee.is_last);  // of those that fit
  target.memory_gb = 0.5;
  EXPECT_FALSE(KneeOf(target).has_value());
}

TEST(KneeTest, WhatHasNoAnswerDoesNotCount) {
  TargetSweep target = Saturating();
  target.points[3] = Failed(8);
  EXPECT_EQ(KneeOf(target)->point, 4u);
  EXPECT_TRUE(KneeOf(target)->is_last);
  for (SweepPoint& point : target.points) point = Failed(point.batch);
  EXPECT_FALSE(KneeOf(target).has_value());
  EXPECT_FALSE(KneeOf(TargetSweep()).has_value());
}

TEST(KneeTest, AGuessCountsOnlyWhereThereIsNothingElse) {
  TargetSweep target = Saturating();
  target.points[4].prediction.set_extrapolating(true);
  target.points[4].prediction.set_latency_us(1);  // far better than all others
  EXPECT_EQ(KneeOf(target)->point, 3u);
  EXPECT_EQ(KneeOf(target)->best, 3u);
  EXPECT_FALSE(KneeOf(target)->is_guess);
  for (SweepPoint& point : target.points) point.prediction.set_extrapolating(true);
  EXPECT_EQ(KneeOf(target)->best, 4u);
  EXPECT_TRUE(KneeOf(target)->is_guess);
}

TEST(KneeTest, AThroughputThatFallsHasItAtTheBeginning) {
  TargetSweep target;
  target.points = {Point(1, 1), Point(2, 4), Point(4, 16)};
  EXPECT_EQ(KneeOf(target)->point, 0u);
  EXPECT_FALSE(KneeOf(target)->is_last);
}

TEST(MemoryEndTest, BetweenTwoBatchesAndBeyondTheLast) {
  TargetSweep target = Saturating();
  EXPECT_FALSE(MemoryEndOf(target).has_value());
  target.memory_gb = 2.25;
  EXPECT_EQ(MemoryEndOf(target)->largest_that_fits, 4);
  EXPECT_EQ(MemoryEndOf(target)->estimate, 6);
  target.memory_gb = 24.75;
  EXPECT_EQ(MemoryEndOf(target)->largest_that_fits, 16);
  EXPECT_EQ(MemoryEndOf(target)->estimate, 96);
  target.memory_gb = 0.5;
  EXPECT_FALSE(MemoryEndOf(target)->largest_that_fits.has_value());
  EXPECT_FALSE(MemoryEndOf(target)->estimate.has_value());
}

TEST(MemoryEndTest, MemoryThatDoesNotDependOnTheBatch) {
  TargetSweep target;
  target.memory_gb = 2;
  target.points = {Point(1, 1, 1000), Point(2, 1, 1000)};
  EXPECT_EQ(MemoryEndOf(target)->largest_that_fits, 2);
  EXPECT_FALSE(MemoryEndOf(target)->estimate.has_value());
}

class SweepRenderTest : public testing::Test {
 protected:
  SweepRenderTest() {
    sweep_.title = "Net(\"<&>\") from net.py";
    sweep_.inputs = {"Bx3x8x8"};
    sweep_.model_version = "2026-01-01-abc";
    sweep_.batches = {1, 2, 4, 8, 16};
    sweep_.targets = {Saturating()};
    sweep_.targets[0].points[1] = Failed(2);
    sweep_.targets[0].points[4].prediction.set_extrapolating(true);
    sweep_.targets[0].memory_gb = 3;
  }
  nlohmann::json Json() const { return ParseJson<nlohmann::json>(SweepJson(sweep_, {})); }
  Sweep sweep_;
};

TEST_F(SweepRenderTest, TheTableHasTheKneeTheEndOfMemoryAndTheReason) {
  const std::string text = SweepTable(sweep_);
  EXPECT_THAT(text, HasSubstr("inputs Bx3x8x8; B is the batch\n"));
  EXPECT_THAT(text, HasSubstr("    8        21.000  18.900 ... 23.100      381   2622.6 MiB        0.95  knee\n"));
  EXPECT_THAT(text, HasSubstr("needs 4.75 GB of 3 GB, extrapolating\n"));
  EXPECT_THAT(
      text, HasSubstr("    2             -                  -        -            -           -  RuntimeError: shape"));
  EXPECT_THAT(text,
              HasSubstr("\nknee at batch 8: 381 a second, 21.000 ms; no larger batch has a known answer and fits"));
  EXPECT_THAT(text, HasSubstr("\nmemory of 3 GB: batch 8 fits, and it ends at about batch 9\n"));
  sweep_.targets[0].memory_gb = 0;
  EXPECT_THAT(SweepTable(sweep_), HasSubstr("\nthe memory of the target is unknown: give --memory-gb"));
}

TEST_F(SweepRenderTest, SeveralTargetsAreOneTable) {
  sweep_.targets.push_back(Saturating());
  sweep_.targets[1].spec.set_name("gpu");
  const std::string text = SweepTable(sweep_);
  EXPECT_THAT(text, HasSubstr("    1  cpu "));
  EXPECT_THAT(text, HasSubstr("    1  gpu "));
  EXPECT_LT(text.find("    1  gpu "), text.find("    2  cpu "));
  EXPECT_THAT(text, HasSubstr("\ngpu: knee at batch 8: 381 a second, 21.000 ms; best 390 at batch 16\n"));
}

TEST_F(SweepRenderTest, JsonHasUnitsAndNoNumberThatIsUnknown) {
  const nlohmann::json j = Json();
  const nlohmann::json& target = j["targets"][0];
  EXPECT_EQ(j["batches"], nlohmann::json({1, 2, 4, 8, 16}));
  EXPECT_EQ(target["points"][0]["latency_us"], 10000);
  EXPECT_EQ(target["points"][0]["items_per_s"], 100);
  EXPECT_EQ(target["points"][0]["fits"], true);
  EXPECT_EQ(target["points"][1]["error"]["exit_code"], 6);
  EXPECT_EQ(target["points"][1]["batch"], 2);
  EXPECT_FALSE(target["points"][1].contains("latency_us"));
  EXPECT_EQ(target["points"][4]["fits"], false);
  EXPECT_EQ(target["knee"]["batch"], 8);
  EXPECT_EQ(target["memory"]["ends_at_batch"], 9);
  sweep_.targets[0].memory_gb = 0;
  EXPECT_TRUE(Json()["targets"][0]["memory"].is_null());
  EXPECT_TRUE(Json()["targets"][0]["points"][0]["fits"].is_null());
}

TEST_F(SweepRenderTest, ThePictureNeedsNothingElse) {
  const std::string svg = SweepSvg(sweep_);
  EXPECT_THAT(svg, HasSubstr("Net(&quot;&lt;&amp;&gt;&quot;) from net.py"));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_THAT(svg, HasSubstr("class=\"band f0\""));
  EXPECT_THAT(svg, HasSubstr("class=\"ring s0\""));
  EXPECT_THAT(svg, HasSubstr("memory ends</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("http://www.w3.org/1999")));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

TEST_F(SweepRenderTest, APictureOfAlmostNothing) {
  sweep_.batches = {1};
  sweep_.targets[0].points = {Point(1, 10)};
  EXPECT_THAT(SweepSvg(sweep_), Not(HasSubstr("nan")));
  sweep_.targets[0].points = {Failed(1)};
  EXPECT_THAT(SweepSvg(sweep_), HasSubstr("no answered batch fits"));
  sweep_.title = "\xFF\x01";
  EXPECT_THAT(SweepSvg(sweep_), HasSubstr(">?"
                                          "?</text>"));
}

}  // namespace
}  // namespace cobra::client
