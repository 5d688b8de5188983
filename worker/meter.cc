#include "worker/meter.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

namespace cobra {
namespace {

double Quantile(const std::vector<double>& sorted, double q) {
  const double at = q * (sorted.size() - 1);
  const size_t low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}

double TimedUs(const std::function<void()>& call, int batch, const ClockNs& now_ns) {
  const double start = now_ns();
  for (int i = 0; i < batch; ++i) call();
  return (now_ns() - start) / 1000 / batch;
}

// Runs until time, count and agreement are reached; returns the last window's time of one call.
double WarmUp(const std::function<void()>& call, const MeterOptions& options, const ClockNs& now_ns) {
  const double start = now_ns();
  const auto elapsed_ms = [&] { return (now_ns() - start) / 1e6; };
  double previous_us = TimedUs(call, 1, now_ns);
  int runs = 1;
  while (true) {
    // A window is a tenth of the warm-up: long enough to average, short enough to notice that it has settled.
    const double window_ms = options.warmup_ms / 10;
    const int in_window = std::clamp(static_cast<int>(window_ms * 1000 / std::max(previous_us, 0.01)), 1, 100000);
    const double window_us = TimedUs(call, in_window, now_ns);
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

Latency Summarise(std::vector<double> samples_us) {
  std::sort(samples_us.begin(), samples_us.end());
  const int n = static_cast<int>(samples_us.size());
  Latency latency;
  latency.runs = n;
  latency.median_us = Quantile(samples_us, 0.5);
  latency.p10_us = Quantile(samples_us, 0.1);
  latency.p90_us = Quantile(samples_us, 0.9);
  latency.min_us = samples_us.front();
  latency.mean_us = std::accumulate(samples_us.begin(), samples_us.end(), 0.0) / n;
  // The number of samples below the true median is binomial(n, 1/2): ranks n/2 +- 1.96 sqrt(n)/2 hold it 95 times of
  // 100.
  const double reach = 0.98 * std::sqrt(static_cast<double>(n));
  const int low = std::clamp(static_cast<int>(std::floor(n / 2.0 - reach)), 0, n - 1);
  const int high = std::clamp(static_cast<int>(std::ceil(n / 2.0 + reach)), 0, n - 1);
  latency.ci_low_us = samples_us[low];
  latency.ci_high_us = samples_us[high];
  return latency;
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return Quantile(values, 0.5);
}

Latency MeasureLatency(const std::function<void()>& call, const MeterOptions& options, const ClockNs& now_ns) {
  const double first_us = TimedUs(call, 1, now_ns);
  if (first_us > options.single_run_above_ms * 1000) return Summarise({TimedUs(call, 1, now_ns)});
  const double warm_us = WarmUp(call, options, now_ns);
  const int batch = std::max(1, static_cast<int>(std::ceil(options.min_batch_us / std::max(warm_us, 0.01))));
  const int min_runs = warm_us > options.slow_run_ms * 1000 ? options.min_runs_slow : options.min_runs;

  std::vector<double> samples_us;
  const double start = now_ns();
  int next_check = min_runs;
  while (true) {
    samples_us.push_back(TimedUs(call, batch, now_ns));
    const int n = static_cast<int>(samples_us.size());
    if (n < min_runs) {
      // The cap on time holds before the wish for runs, but never below three.
      if (n >= options.min_runs_slow && (now_ns() - start) / 1e6 > options.max_ms) break;
      continue;
    }
    if (n >= options.max_runs || (now_ns() - start) / 1e6 > options.max_ms) break;
    if (n < next_check) continue;
    next_check = n + std::max(1, n / 8);  // sorting after every run would cost more than the run
    const Latency so_far = Summarise(samples_us);
    if (so_far.ci_high_us - so_far.ci_low_us <= 2 * options.interval * so_far.median_us) break;
  }
  Latency latency = Summarise(std::move(samples_us));
  latency.batch = batch;
  return latency;
}

}  // namespace cobra
