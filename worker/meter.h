// How a call is timed (MEASURING.md): warm up by time, run until the interval of the median is narrow. Knows nothing of
// LibTorch; the clock comes in from outside, so that tests decide what time it is.
#ifndef COBRA_WORKER_METER_H_
#define COBRA_WORKER_METER_H_

#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "store/record.h"

namespace cobra::worker {

struct MeterOptions {
  double warmup_ms = 50;           // warm-up lasts at least this long ...
  int warmup_runs = 3;             // ... and this many runs
  double warmup_agreement = 0.02;  // ... and until two windows of runs agree this well,
  double warmup_max_ms = 1000;     // ... but never longer than this
  double interval = 0.01;          // 95 % interval of the median: its half width over the median
  int min_runs = 10;
  double slow_run_ms = 50;            // a run longer than this
  int min_runs_slow = 3;              // needs only so many
  int max_runs = 1000;                // the interval does not narrow further where the machine itself wanders
  double max_ms = 5000;               // the timed runs together
  double single_run_above_ms = 2000;  // slower than this: one warm-up, one run; Latency::runs then says 1
  double min_batch_us =
      20;  // calls are timed in batches at least this long: 100 x the resolution of CLOCK_MONOTONIC, amply
};

// Nanoseconds on a clock that never goes back.
using ClockNs = std::function<double()>;
double SteadyNowNs();

// What surrounds a timed region where a call returns before its work is done, or must find the caches in a stated
// state.
struct RegionHooks {
  std::function<void()> settle;  // before a region, outside it
  std::function<void()> begin;   // first thing inside
  std::function<double()>
      end;  // waits for the work; microseconds since `begin` on the device's own clock, 0: it has none
  int most_calls = std::numeric_limits<int>::max();  // in one region
};

// The call has been made at least once before (cold); fills everything but cold_us. device_us where the hooks have a
// device's clock.
store::Latency MeasureLatency(const std::function<void()>& call, const MeterOptions& options,
                              const ClockNs& now_ns = SteadyNowNs, const RegionHooks& hooks = {});

// Joules of one call, from calls that together last at least `region_ms` (counters of energy tick every 1 to 100 ms);
// nullopt where the counter says nothing or does not move. `latency_us`: of one call, measured before.
std::optional<double> MeasureEnergy(const std::function<void()>& call, double latency_us, double region_ms,
                                    const std::function<std::optional<double>()>& joules,
                                    const RegionHooks& hooks = {});

// Statistics of samples in microseconds; REQUIRES: not empty.
store::Latency Summarise(std::vector<double> samples_us);
double Median(std::vector<double> values);  // 0 if empty

}  // namespace cobra::worker

#endif  // COBRA_WORKER_METER_H_
