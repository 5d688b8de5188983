// Times a call (docs/measurements.md): warms up by time, then runs until the interval of the median
// is narrow. Does not depend on LibTorch. The clock is a parameter, so that tests can use a fake
// one.
#ifndef COBRA_WORKER_METER_METER_H_
#define COBRA_WORKER_METER_METER_H_

#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "store/measurement.h"

namespace cobra::worker {

struct MeterOptions {
  // Warm-up lasts at least this long and this many runs, and until two windows of runs agree this
  // well, but never longer than the maximum.
  double warmup_ms = 50;
  int warmup_runs = 3;
  double warmup_agreement = 0.02;
  double warmup_max_ms = 1000;
  // 95 % interval of the median at which the timed runs end: its half width over the median.
  double interval = 0.01;
  int min_runs = 10;
  // For runs longer than this, fewer are enough.
  double slow_run_ms = 50;
  int min_runs_slow = 3;
  // An upper limit, because the interval does not narrow further if the machine's speed drifts.
  int max_runs = 1000;
  // Total duration of the timed runs.
  double max_ms = 5000;
  // For calls slower than this: one warm-up and one run; Latency::runs is then 1.
  double single_run_above_ms = 2000;
  // Returns Pulse::Ratio() (pulse.h), to watch for neighbours around each region: the interval is
  // then that of the undisturbed runs. Empty: nobody watches.
  std::function<double()> pulse;
  // Only the calling thread computes the calls. Then its processor time is what a run takes without
  // the others on its processor, however often it had to leave it.
  bool one_thread = false;
  // Calls are timed in batches at least this long: well over 100 times the resolution of
  // CLOCK_MONOTONIC.
  double min_batch_us = 20;
};

// Nanoseconds of a monotonic clock.
using ClockNs = std::function<double()>;
double SteadyNowNs();
// The processor time of this thread.
double ThreadCpuNs();

// Hooks around a timed region, for calls that return before their work is done, or that need a
// defined state of the caches.
struct RegionHooks {
  // Called before a region, outside of it.
  std::function<void()> settle;
  // Called first inside the region.
  std::function<void()> begin;
  // Waits for the work; returns microseconds since `begin` on the device's own clock, 0 if it has
  // none.
  std::function<double()> end;
  // Maximum number of calls in one region.
  int most_calls = std::numeric_limits<int>::max();
};

// Times of one call, the mean of a region.
struct RegionTimes {
  double wall_us = 0, device_us = 0;
  // The worse of the pulses before and after it (pulse.h), or twice what is quiet if the thread
  // lost its processor in between; 0: there were no pulses.
  double pulse_ratio = 0;
  // The time between these two.
  double region_us = 0;
  // Processor time of the calling thread, if only it computes them; 0: not known.
  double cpu_us = 0;
};

// What is timed where the calls happen elsewhere, by another clock: in a runner (process_runner.h).
struct TimedElsewhere {
  // The times of `regions` regions of `calls` calls; empty if it failed, which ends the
  // measurement.
  std::function<std::vector<RegionTimes>(int regions, int calls)> time;
  // An upper limit of `regions`.
  int most_regions = 1000;
};

// Rules and results as below; a Latency without runs if `timed` failed.
store::Latency MeasureElsewhere(const TimedElsewhere& timed, const MeterOptions& options);

// The call must have been made at least once before (cold). Fills all fields but cold_us; device_us
// only if the hooks have a device's clock.
store::Latency MeasureLatency(const std::function<void()>& call, const MeterOptions& options,
                              const ClockNs& now_ns = SteadyNowNs, const RegionHooks& hooks = {});

// Joules of one call, from calls that together last at least `region_ms` (counters of energy tick
// every 1 to 100 ms); nullopt if the counter cannot be read or does not change. `latency_us`: of
// one call, measured before.
std::optional<double> MeasureEnergy(const std::function<void()>& call, double latency_us, double region_ms,
                                    const std::function<std::optional<double>()>& joules,
                                    const RegionHooks& hooks = {});

// Statistics of samples in microseconds, without those of undisturbed runs; REQUIRES: not empty.
store::Latency Summarise(std::vector<double> samples_us);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_METER_METER_H_
