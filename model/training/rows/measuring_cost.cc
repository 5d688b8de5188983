#include "model/training/rows/measuring_cost.h"

#include <algorithm>

namespace cobra::training {
namespace {

// The time that no record contains: sampling, weights and inputs, the checked call, the canary's
// share. Least squares over the 547 groups of the first series (data/measurements/README.md): time
// between groups minus recorded time.
constexpr double kSecondsALayer = 0.021;
constexpr double kSecondsAByte = 0.52e-9;

constexpr double kWarmUpUs = 20e3;  // at least; and at least four calls: one timed, one window of at least three
constexpr double kMaxTimedUs = 250e3;

// `timed_us`: the sum of the timed runs. `cold_us`: the first call.
double Seconds(double latency_us, double timed_us, double cold_us, int64_t peak_memory_bytes) {
  return kSecondsALayer + kSecondsAByte * static_cast<double>(peak_memory_bytes) +
         (std::max(kWarmUpUs, 4 * latency_us) + timed_us + cold_us) / 1e6;
}

}  // namespace

double RecordedSeconds(const store::Measurement& measurement) {
  const store::Latency& latency = measurement.latency;
  return Seconds(latency.median_us, latency.runs * latency.batch * latency.mean_us, latency.cold_us,
                 measurement.peak_memory_bytes);
}

double ExpectedSeconds(double latency_us, int64_t peak_memory_bytes) {
  // Means of the same series. Layers of about a millisecond are at the edge of the cache: they vary
  // and need more runs.
  const double runs = latency_us > 500 && latency_us < 2500 ? 55 : 20;
  const double timed_us = std::max(3 * latency_us, std::min(runs * latency_us, kMaxTimedUs));
  return Seconds(latency_us, timed_us, 1.5 * latency_us + 150, peak_memory_bytes);
}

}  // namespace cobra::training
