#include "worker/run/campaign.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file/file.h"
#include "gtest/gtest.h"
#include "store/measurement.h"
#include "worker/run/measure.h"

namespace cobra::worker {
namespace {

CampaignOptions Options() {
  CampaignOptions options;
  options.spaces = {{"paper-layers", 300}, {"paper-networks", 30}};
  return options;
}

TEST(CampaignTest, PlansEveryTaskOnceAndSpreadsTheSpaces) {
  const std::vector<Task> tasks = PlanTasks(Options());
  ASSERT_EQ(tasks.size(), 330u);
  std::set<std::pair<int, int64_t>> seen;
  int networks_in_first_half = 0;
  for (size_t i = 0; i < tasks.size(); ++i) {
    seen.insert({tasks[i].space, tasks[i].index});
    networks_in_first_half += tasks[i].space == 1 && i < tasks.size() / 2;
  }
  EXPECT_EQ(seen.size(), tasks.size());
  EXPECT_NEAR(networks_in_first_half, 15, 2);
}

TEST(CampaignTest, RepeatsTheShareAskedFor) {
  CampaignOptions options = Options();
  options.repeat_share = 0.1;
  const std::vector<Task> again = PlanRepetitions(options);
  EXPECT_NEAR(again.size(), 33, 18);
  for (const Task& task : again) EXPECT_EQ(task.repeat, 1);
}

std::vector<store::Measurement> RecordsOf(const std::string& path) {
  std::vector<store::Measurement> records;
  const absl::StatusOr<std::string> text = ReadFile(path);
  for (absl::string_view line : absl::StrSplit(text.ok() ? *text : "", '\n', absl::SkipEmpty())) {
    if (absl::StatusOr<store::Measurement> record = store::MeasurementFromJson(line); record.ok())
      records.push_back(*std::move(record));
  }
  return records;
}

// In a child of its own: a campaign pins its process to a core.
int RunInFork(const CampaignOptions& options) {
  const pid_t pid = fork();
  if (pid == 0) _exit(RunCampaign(options).ok() ? 0 : 1);
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

TEST(CampaignTest, GoesOnWhereItStopped) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/campaign_", getpid(), ".jsonl");
  CampaignOptions options;
  options.out = path;
  options.spaces = {{"paper-layers", 3}};
  options.sampler.caps.tensor_bytes = 1 << 23;
  options.sampler.caps.layer_macs = options.sampler.caps.grouped_macs = 50'000'000;
  options.repeat_share = 0;
  options.runner.canary_tolerance = options.runner.canary_copy_tolerance = 1e9;
  ASSERT_EQ(RunInFork(options), 0);
  EXPECT_EQ(RecordsOf(path).size(), 3u);
  options.spaces[0].count = 5;
  ASSERT_EQ(RunInFork(options), 0);
  const std::vector<store::Measurement> records = RecordsOf(path);
  ASSERT_EQ(records.size(), 5u);
  std::set<std::string> keys;
  for (const store::Measurement& record : records) {
    keys.insert(record.subject.Key());
    EXPECT_EQ(record.outcome, store::Outcome::ok) << record.message;
    EXPECT_GT(record.latency.median_us, 0);
    EXPECT_EQ(record.subject.fingerprint.size(), 32u);
  }
  EXPECT_EQ(keys.size(), 5u);
  unlink(path.c_str());
}

TEST(CanaryTest, WorstRatioIsComparedWithTheMedian) {
  const std::vector<CanaryTimes> calm = {{100, 50, 80}, {102, 50, 90}, {99, 51, 70}};
  EXPECT_EQ(MedianCanary(calm).conv_us, 100);
  EXPECT_EQ(MedianCanary(calm).copy_us, 80);
  EXPECT_FALSE(IsDisturbed(WorstRatios(calm, MedianCanary(calm))));
  std::vector<CanaryTimes> busy = calm;
  busy.push_back({100, 60, 80});
  EXPECT_NEAR(WorstRatios(busy, MedianCanary(busy)).compute, 60 / 50.5, 1e-9);
  EXPECT_TRUE(IsDisturbed(WorstRatios(busy, MedianCanary(busy))));
  EXPECT_TRUE(IsDisturbed({1, 1.3}));
  EXPECT_TRUE(IsDisturbed({0.9, 1}));
}

store::Measurement Timed(double median_us, double quiet_us, int quiet_runs, int loud_runs) {
  store::Measurement measurement;
  measurement.latency.runs = 100;
  measurement.latency.median_us = median_us;
  measurement.latency.quiet_us = quiet_us;
  measurement.latency.quiet_runs = quiet_runs;
  measurement.latency.loud_runs = loud_runs;
  return measurement;
}

TEST(DisturbedTest, ANumberIsDisturbedIfItIsNotTheUndisturbedOne) {
  const CanaryRatios calm, busy = {1.5, 1};
  EXPECT_FALSE(IsDisturbed(Timed(100, 99, 60, 40), calm));
  EXPECT_TRUE(IsDisturbed(Timed(110, 99, 20, 80), calm));
  // What is known from quiet runs needs no canary.
  EXPECT_FALSE(IsDisturbed(Timed(100, 99, 60, 40), busy));
  EXPECT_TRUE(IsDisturbed(Timed(100, 99, 0, 0), busy));
  // The fastest of runs that are too long for quiet ones, on a quiet machine, and beside a
  // neighbour that never stops.
  EXPECT_FALSE(IsDisturbed(Timed(107, 100, 0, 10), calm));
  EXPECT_TRUE(IsDisturbed(Timed(130, 100, 0, 40), calm));
  EXPECT_TRUE(IsDisturbed(Timed(103, 100, 0, 90), calm));
  // Nobody looked, as on a GPU.
  EXPECT_FALSE(IsDisturbed(Timed(100, 0, 0, 0), calm));
  EXPECT_TRUE(IsDisturbed(Timed(100, 0, 0, 0), busy));
  store::Measurement failed = Timed(130, 100, 0, 90);
  failed.outcome = store::Outcome::crashed;
  EXPECT_FALSE(IsDisturbed(failed, busy));
}

TEST(DisturbedTest, AWarningSaysWhatTheUndisturbedNumberIs) {
  const std::string known = DisturbedWarning(Timed(13000, 10000, 20, 80).latency);
  EXPECT_NE(known.find("1.30 times what it takes undisturbed, 10 ms"), std::string::npos) << known;
  const std::string bound = DisturbedWarning(Timed(13000, 10000, 0, 80).latency);
  EXPECT_NE(bound.find("at most 10 ms"), std::string::npos) << bound;
  EXPECT_NE(DisturbedWarning(Timed(100, 0, 0, 0).latency).find("measure again"), std::string::npos);
}

TEST(CanaryTest, RatiosAreCheckedSeparately) {
  const CanaryRatios ratios = RatiosOf({200, 110, 50}, {100, 100, 100});
  EXPECT_DOUBLE_EQ(ratios.compute, 2);
  EXPECT_DOUBLE_EQ(ratios.copy, 0.5);
  EXPECT_DOUBLE_EQ(WorseRatio(0.4, 2), 0.4);
}

}  // namespace
}  // namespace cobra::worker
