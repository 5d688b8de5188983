#include "worker/meter/meter.h"

#include <algorithm>
#include <cmath>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace cobra::worker {
namespace {

// A machine whose call takes `cost_us(i)` for the i-th call; its clock moves only when it is
// called.
class FakeMachine {
 public:
  explicit FakeMachine(std::function<double(int)> cost_us) : cost_us_(std::move(cost_us)) {}
  std::function<void()> call() {
    return [this] { now_ns_ += cost_us_(calls_++) * 1000; };
  }
  ClockNs clock() {
    return [this] { return now_ns_; };
  }
  int calls() const { return calls_; }
  double now_ms() const { return now_ns_ / 1e6; }

 private:
  std::function<double(int)> cost_us_;
  int calls_ = 0;
  double now_ns_ = 0;
};

TEST(MeterTest, ASteadyMachineNeedsTheMinimumOfRuns) {
  FakeMachine machine([](int) { return 1000.0; });
  const store::Latency latency = MeasureLatency(machine.call(), MeterOptions(), machine.clock());
  EXPECT_DOUBLE_EQ(latency.median_us, 1000);
  EXPECT_EQ(latency.runs, 10);
  EXPECT_EQ(latency.batch, 1);
}

TEST(MeterTest, WarmsUpByTime) {
  FakeMachine machine([](int i) { return i < 8 ? 5000.0 : 1000.0; });  // slow while it is cold
  const store::Latency latency = MeasureLatency(machine.call(), MeterOptions(), machine.clock());
  EXPECT_DOUBLE_EQ(latency.median_us, 1000);
  EXPECT_DOUBLE_EQ(latency.p90_us, 1000);
  EXPECT_GE(machine.now_ms(), 50 + 10);
}

TEST(MeterTest, ShortCallsAreBatched) {
  FakeMachine machine([](int) { return 0.5; });
  const store::Latency latency = MeasureLatency(machine.call(), MeterOptions(), machine.clock());
  EXPECT_NEAR(latency.median_us, 0.5, 1e-9);
  EXPECT_GE(latency.batch * 0.5, MeterOptions().min_batch_us);
}

TEST(MeterTest, SlowCallsNeedThreeRuns) {
  FakeMachine machine([](int) { return 80'000.0; });
  EXPECT_EQ(MeasureLatency(machine.call(), MeterOptions(), machine.clock()).runs, 3);
}

TEST(MeterTest, VerySlowCallsRunTwice) {
  FakeMachine machine([](int) { return 3e6; });
  EXPECT_EQ(MeasureLatency(machine.call(), MeterOptions(), machine.clock()).runs, 1);
  EXPECT_EQ(machine.calls(), 2);
}

TEST(MeterTest, ANoisyMachineRunsUntilTheIntervalIsNarrow) {
  FakeMachine machine([](int i) { return 1000.0 * (1 + 0.05 * std::sin(i * 2.39996)); });
  const store::Latency latency = MeasureLatency(machine.call(), MeterOptions(), machine.clock());
  EXPECT_GT(latency.runs, 10);
  EXPECT_LE(latency.ci_high_us - latency.ci_low_us, 0.02 * latency.median_us);
}

TEST(MeterTest, StopsAtTheTimeCap) {
  MeterOptions options;
  options.max_ms = 100;
  options.interval = 0;
  FakeMachine machine([](int i) { return 1000.0 + i % 7; });
  const store::Latency latency = MeasureLatency(machine.call(), options, machine.clock());
  EXPECT_NEAR(latency.runs, 100, 2);
}

// A neighbour works in two of three periods of 40 runs; runs beside it take 1.4 times as long.
TEST(MeterTest, TheQuietMedianIsThatOfRunsWithoutANeighbour) {
  int run = 0;
  const auto disturbed = [&run] { return run / 40 % 3 != 0; };
  FakeMachine machine([&](int i) { return run = i, disturbed() ? 1400.0 : 1000.0; });
  MeterOptions options;
  options.interval = 0;
  options.pulse = [&] { return disturbed() ? 1.5 : 1.01; };
  const store::Latency latency = MeasureLatency(machine.call(), options, machine.clock());
  EXPECT_EQ(latency.median_us, 1400);
  EXPECT_EQ(latency.quiet_us, 1000);
  EXPECT_GE(latency.quiet_runs, 3);
  EXPECT_LT(latency.quiet_runs, latency.runs / 2);
  EXPECT_EQ(latency.loud_runs + latency.quiet_runs, latency.runs);
}

TEST(MeterTest, WithoutQuietRunsTheFastestCounts) {
  FakeMachine machine([](int i) { return 1000.0 + 10 * (i % 7); });
  MeterOptions options;
  options.max_ms = 50;
  options.pulse = [] { return 1.3; };
  const store::Latency loud = MeasureLatency(machine.call(), options, machine.clock());
  EXPECT_EQ(loud.quiet_us, loud.min_us);
  EXPECT_EQ(loud.quiet_runs, 0);
  EXPECT_EQ(loud.loud_runs, loud.runs);
  // A neighbour may come and go between the pulses of a long run.
  FakeMachine slow([](int i) { return 20000.0 + 100 * (i % 7); });
  options.pulse = [] { return 1.0; };
  const store::Latency is_long = MeasureLatency(slow.call(), options, slow.clock());
  EXPECT_EQ(is_long.quiet_us, is_long.min_us);
  EXPECT_EQ(is_long.quiet_runs, 0);
  EXPECT_EQ(is_long.loud_runs, 0);
}

// A run that always has to wait for its processor still says how long it worked.
TEST(MeterTest, WithoutQuietRunsOneThreadsProcessorTimeCounts) {
  MeterOptions options;
  options.max_ms = 50;
  options.pulse = [] { return 1.3; };
  const auto wait = [] { absl::SleepFor(absl::Milliseconds(2)); };
  const store::Latency unknown = MeasureLatency(wait, options);
  EXPECT_EQ(unknown.quiet_us, unknown.min_us);
  options.one_thread = true;
  const store::Latency known = MeasureLatency(wait, options);
  EXPECT_GT(known.quiet_us, 0);
  EXPECT_LT(known.quiet_us, known.min_us / 2);
  EXPECT_EQ(known.quiet_runs, 0);
}

TEST(MeterTest, WithoutAPulseNothingIsKnownOfNeighbours) {
  FakeMachine machine([](int) { return 1000.0; });
  EXPECT_EQ(MeasureLatency(machine.call(), MeterOptions(), machine.clock()).quiet_us, 0);
}

TEST(MeterTest, RegionsElsewhereHavePulsesAroundSomeMilliseconds) {
  int asked = 0, regions_asked = 0, pulses = 0;
  TimedElsewhere elsewhere;
  elsewhere.time = [&](int regions, int) {
    ++asked, regions_asked += regions;
    return std::vector<RegionTimes>(static_cast<size_t>(regions), RegionTimes{100.0, 0});
  };
  MeterOptions options;
  options.pulse = [&] { return ++pulses, 1.0; };
  const store::Latency latency = MeasureElsewhere(elsewhere, options);
  EXPECT_EQ(latency.quiet_us, 100);
  EXPECT_EQ(latency.quiet_runs, latency.runs);
  EXPECT_EQ(pulses, 2 * asked);
}

TEST(MeterTest, StatisticsOfSamples) {
  std::vector<double> samples;
  for (int i = 100; i >= 1; --i) samples.push_back(i);
  const store::Latency latency = Summarise(samples);
  EXPECT_DOUBLE_EQ(latency.median_us, 50.5);
  EXPECT_DOUBLE_EQ(latency.mean_us, 50.5);
  EXPECT_DOUBLE_EQ(latency.min_us, 1);
  EXPECT_NEAR(latency.p10_us, 10.9, 1e-9);
  EXPECT_NEAR(latency.p90_us, 90.1, 1e-9);
  EXPECT_DOUBLE_EQ(latency.ci_low_us, 41);  // ranks 50 -+ 9.8
  EXPECT_DOUBLE_EQ(latency.ci_high_us, 61);
}

// A device that works by itself: a call takes 2 us to make and 10 us to run; its clock stands still
// between regions.
class FakeDevice {
 public:
  std::function<void()> call() {
    return [this] { now_us_ += 2, pending_us_ += 10, ++calls_; };
  }
  RegionHooks hooks() {
    RegionHooks hooks;
    hooks.settle = [this] { now_us_ += 1000, ++settled_; };
    hooks.begin = [this] { calls_ = 0; };
    hooks.end = [this] {
      most_calls_ = std::max(most_calls_, calls_);
      const double device_us = pending_us_;
      now_us_ += std::max(0.0, pending_us_ - 2 * calls_) + 5;  // the wait itself takes 5
      pending_us_ = 0;
      return device_us;
    };
    return hooks;
  }
  ClockNs clock() {
    return [this] { return now_us_ * 1000; };
  }
  int settled() const { return settled_; }
  int most_calls() const { return most_calls_; }

 private:
  double now_us_ = 0, pending_us_ = 0;
  int calls_ = 0, settled_ = 0, most_calls_ = 0;
};

TEST(MeterTest, ARegionEndsWhenTheDeviceHasDoneItsWork) {
  FakeDevice device;
  MeterOptions options;
  options.min_batch_us = 500;
  const store::Latency latency = MeasureLatency(device.call(), options, device.clock(), device.hooks());
  EXPECT_DOUBLE_EQ(latency.device_us, 10);
  EXPECT_NEAR(latency.median_us, 10 + 5.0 / latency.batch, 1e-9);  // settling is outside
  EXPECT_GE(latency.batch * latency.median_us, 500);
  EXPECT_GT(device.settled(), latency.runs);
}

TEST(MeterTest, ARegionHasNoMoreCallsThanItMay) {
  FakeDevice device;
  RegionHooks hooks = device.hooks();
  hooks.most_calls = 4;
  MeterOptions options;
  options.min_batch_us = 500;
  EXPECT_EQ(MeasureLatency(device.call(), options, device.clock(), hooks).batch, 4);
  EXPECT_EQ(device.most_calls(), 4);
}

TEST(MeterTest, AMachineWithoutADevicesClockHasNoDeviceTime) {
  FakeMachine machine([](int) { return 1000.0; });
  EXPECT_EQ(MeasureLatency(machine.call(), MeterOptions(), machine.clock()).device_us, 0);
}

TEST(MeterTest, EnergyIsThatOfOneCall) {
  double joules = 100;
  int calls = 0;
  const auto call = [&] { ++calls, joules += 0.25; };
  const auto counter = [&]() -> std::optional<double> { return joules; };
  EXPECT_DOUBLE_EQ(*MeasureEnergy(call, /*latency_us=*/1000, /*region_ms=*/200, counter), 0.25);
  EXPECT_EQ(calls, 200);
  EXPECT_DOUBLE_EQ(*MeasureEnergy(call, 3e6, 200, counter), 0.25);  // one call is longer than the region
  EXPECT_EQ(calls, 201);
}

TEST(MeterTest, EnergyIsAbsentWhereNothingCounts) {
  const auto call = [] {};
  EXPECT_FALSE(MeasureEnergy(call, 1e5, 200, [] { return std::optional<double>(); }).has_value());
  EXPECT_FALSE(MeasureEnergy(call, 1e5, 200, [] { return std::optional<double>(7); }).has_value());  // it does not move
}

}  // namespace
}  // namespace cobra::worker
