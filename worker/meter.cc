#include "worker/meter.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/statistics.h"

namespace cobra::worker {
namespace {

double Quantile(const std::vector<double>& sorted, double q) {
  const double at = q * (sorted.size() - 1);
  const size_t low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}

struct Times {
  double wall_us = 0, device_us = 0;  // of one call
};

// The timed call and its clock.
class Region {
 public:
  Region(const std::function<void()>& call, const ClockNs& now_ns, const RegionHooks& hooks)
      : call_(call), now_ns_(now_ns), hooks_(hooks) {}

  Times Time(int calls) const {
    if (hooks_.settle) hooks_.settle();
    const double start = now_ns_();
    if (hooks_.begin) hooks_.begin();
    for (int i = 0; i < calls; ++i) call_();
    const double device_us = hooks_.end ? hooks_.end() : 0;
    return {(now_ns_() - start) / 1000 / calls, device_us / calls};
  }
  double Now() const { return now_ns_(); }
  int most_calls() const { return hooks_.most_calls; }

 private:
  const std::function<void()>& call_;
  const ClockNs& now_ns_;
  const RegionHooks& hooks_;
};

// Runs until time, count and agreement are reached. Returns the time of one call in the last window.
double WarmUp(const Region& region, const MeterOptions& options) {
  const double start = region.Now();
  const auto elapsed_ms = [&] { return (region.Now() - start) / 1e6; };
  double previous_us = region.Time(1).wall_us;
  int runs = 1;
  while (true) {
    // A window is a tenth of the warm-up: long enough to average, short enough to notice that it has settled.
    const double window_ms = options.warmup_ms / 10;
    const int in_window = std::clamp(static_cast<int>(window_ms * 1000 / std::max(previous_us, 0.01)), 1,
                                     std::min(100000, region.most_calls()));
    const double window_us = region.Time(in_window).wall_us;
    runs += in_window;
    const bool settled = std::abs(window_us - previous_us) <= options.warmup_agreement * window_us;
    previous_us = window_us;
    const double so_far_ms = elapsed_ms();
    if (so_far_ms >= options.warmup_max_ms) break;
    if (so_far_ms >= options.warmup_ms && runs >= options.warmup_runs && settled) break;
  }
  return previous_us;
}

}  // namespace

double SteadyNowNs() {
  return static_cast<double>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

store::Latency Summarise(std::vector<double> samples_us) {
  std::sort(samples_us.begin(), samples_us.end());
  const int n = static_cast<int>(samples_us.size());
  store::Latency latency;
  latency.runs = n;
  latency.median_us = Quantile(samples_us, 0.5);
  latency.p10_us = Quantile(samples_us, 0.1);
  latency.p90_us = Quantile(samples_us, 0.9);
  latency.min_us = samples_us.front();
  latency.mean_us = std::accumulate(samples_us.begin(), samples_us.end(), 0.0) / n;
  // The number of samples below the true median is binomial(n, 1/2): ranks n/2 +- 1.96 sqrt(n)/2 contain it with 95 %
  // probability.
  const double reach = 0.98 * std::sqrt(static_cast<double>(n));
  const int low = std::clamp(static_cast<int>(std::floor(n / 2.0 - reach)), 0, n - 1);
  const int high = std::clamp(static_cast<int>(std::ceil(n / 2.0 + reach)), 0, n - 1);
  latency.ci_low_us = samples_us[low];
  latency.ci_high_us = samples_us[high];
  return latency;
}

store::Latency MeasureLatency(const std::function<void()>& call, const MeterOptions& options, const ClockNs& now_ns,
                              const RegionHooks& hooks) {
  const Region region(call, now_ns, hooks);
  std::vector<double> samples_us, device_us;
  const auto sample = [&](int calls) {
    const Times times = region.Time(calls);
    samples_us.push_back(times.wall_us);
    if (times.device_us > 0) device_us.push_back(times.device_us);
  };
  const auto summary = [&](int batch) {
    store::Latency latency = Summarise(samples_us);
    latency.batch = batch;
    latency.device_us = Median(device_us);
    return latency;
  };
  if (region.Time(1).wall_us > options.single_run_above_ms * 1000) {
    sample(1);
    return summary(1);
  }
  const double warm_us = WarmUp(region, options);
  const int batch =
      std::clamp(static_cast<int>(std::ceil(options.min_batch_us / std::max(warm_us, 0.01))), 1, hooks.most_calls);
  const int min_runs = warm_us > options.slow_run_ms * 1000 ? options.min_runs_slow : options.min_runs;

  const double start = now_ns();
  int next_check = min_runs;
  while (true) {
    sample(batch);
    const int n = static_cast<int>(samples_us.size());
    if (n < min_runs) {
      // The time limit has precedence over min_runs, but not over min_runs_slow.
      if (n >= options.min_runs_slow && (now_ns() - start) / 1e6 > options.max_ms) break;
      continue;
    }
    if (n >= options.max_runs || (now_ns() - start) / 1e6 > options.max_ms) break;
    if (n < next_check) continue;
    next_check = n + std::max(1, n / 8);  // sorting after every run would cost more than the run
    const store::Latency so_far = Summarise(samples_us);
    if (so_far.ci_high_us - so_far.ci_low_us <= 2 * options.interval * so_far.median_us) break;
  }
  return summary(batch);
}

std::optional<double> MeasureEnergy(const std::function<void()>& call, double latency_us, double region_ms,
                                    const std::function<std::optional<double>()>& joules, const RegionHooks& hooks) {
  const int64_t calls =
      std::max<int64_t>(1, static_cast<int64_t>(std::ceil(region_ms * 1000 / std::max(latency_us, 0.01))));
  if (hooks.settle) hooks.settle();
  const std::optional<double> before = joules();
  if (!before) return std::nullopt;
  if (hooks.begin) hooks.begin();
  for (int64_t i = 0; i < calls; ++i) call();
  if (hooks.end) hooks.end();
  const std::optional<double> after = joules();
  if (!after || *after <= *before) return std::nullopt;
  return (*after - *before) / static_cast<double>(calls);
}

}  // namespace cobra::worker
