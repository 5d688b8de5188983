#include "worker/meter/meter.h"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/statistics.h"
#include "worker/meter/pulse.h"

namespace cobra::worker {
namespace {

// Fewer undisturbed runs than these have no median of their own.
constexpr size_t kFewestQuietRuns = 3;

// How often this thread had to leave its processor to somebody else.
long Preemptions() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

constexpr double kBetweenPulsesUs = 3000;
constexpr double kLongRegionUs = 6000;

double Quantile(const std::vector<double>& sorted, double q) {
  const double at = q * (sorted.size() - 1);
  const size_t low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}

// What is timed, here or elsewhere, and the clock of the measurement.
class Region {
 public:
  using Time = std::function<std::vector<RegionTimes>(int regions, int calls)>;
  Region(Time time, ClockNs now_ns, int most_calls, int most_regions)
      : time_(std::move(time)), now_ns_(std::move(now_ns)), most_calls_(most_calls), most_regions_(most_regions) {}

  // One region; nullopt after a failure.
  std::optional<RegionTimes> One(int calls) const {
    const std::vector<RegionTimes> times = time_(1, calls);
    return times.empty() ? std::nullopt : std::optional<RegionTimes>(times[0]);
  }
  std::vector<RegionTimes> Several(int regions, int calls) const {
    return time_(std::clamp(regions, 1, most_regions_), calls);
  }
  double Now() const { return now_ns_(); }
  int most_calls() const { return most_calls_; }

 private:
  const Time time_;
  const ClockNs now_ns_;
  const int most_calls_, most_regions_;
};

// Runs until time, count and agreement are reached. Returns the time of one call in the last
// window; nullopt after a failure.
std::optional<double> WarmUp(const Region& region, const MeterOptions& options) {
  const double start = region.Now();
  const auto elapsed_ms = [&] { return (region.Now() - start) / 1e6; };
  const std::optional<RegionTimes> first = region.One(1);
  if (!first) return std::nullopt;
  double previous_us = first->wall_us;
  int runs = 1;
  while (true) {
    // A window is a tenth of the warm-up: long enough to average, short enough to notice that it
    // has settled.
    const double window_ms = options.warmup_ms / 10;
    const int in_window = std::clamp(static_cast<int>(window_ms * 1000 / std::max(previous_us, 0.01)), 1,
                                     std::min(100000, region.most_calls()));
    const std::optional<RegionTimes> window = region.One(in_window);
    if (!window) return std::nullopt;
    const double window_us = window->wall_us;
    runs += in_window;
    const bool settled = std::abs(window_us - previous_us) <= options.warmup_agreement * window_us;
    previous_us = window_us;
    const double so_far_ms = elapsed_ms();
    if (so_far_ms >= options.warmup_max_ms) break;
    if (so_far_ms >= options.warmup_ms && runs >= options.warmup_runs && settled) break;
  }
  return previous_us;
}

// The samples of a measurement.
class Samples {
 public:
  void Add(const RegionTimes& times) {
    wall_us_.push_back(times.wall_us);
    if (times.cpu_us > 0) least_cpu_us_ = std::min(least_cpu_us_, times.cpu_us);
    if (times.pulse_ratio > 0) {
      watched_ = true;
      loud_ += times.pulse_ratio > kQuietPulse;
      // Neighbours come and go within a long region, between its pulses.
      if (times.region_us > kLongRegionUs) return;
      may_be_quiet_ = true;
      if (times.pulse_ratio <= kQuietPulse) quiet_us_.push_back(times.wall_us);
    }
    if (times.device_us > 0) device_us_.push_back(times.device_us);
  }
  int count() const { return static_cast<int>(wall_us_.size()); }
  bool AgreeTo(double interval) const {
    const bool quiet = quiet_us_.size() >= kFewestQuietRuns;
    if (may_be_quiet_ && !quiet) return false;
    const store::Latency so_far = Summarise(quiet ? quiet_us_ : wall_us_);
    return so_far.ci_high_us - so_far.ci_low_us <= 2 * interval * so_far.median_us;
  }
  store::Latency Summary(int batch) const {
    store::Latency latency = Summarise(wall_us_);
    latency.batch = batch;
    latency.device_us = Median(device_us_);
    latency.loud_runs = loud_;
    if (quiet_us_.size() >= kFewestQuietRuns) {
      latency.quiet_us = Median(quiet_us_);
      latency.quiet_runs = static_cast<int>(quiet_us_.size());
    } else if (watched_) {
      latency.quiet_us = std::min(latency.min_us, least_cpu_us_);
    }
    return latency;
  }

 private:
  std::vector<double> wall_us_, device_us_, quiet_us_;
  bool watched_ = false, may_be_quiet_ = false;
  int loud_ = 0;
  double least_cpu_us_ = std::numeric_limits<double>::infinity();
};

store::Latency Measure(const Region& region, const MeterOptions& options) {
  Samples samples;
  const std::optional<RegionTimes> first = region.One(1);
  if (!first) return {};
  if (first->wall_us > options.single_run_above_ms * 1000) {
    const std::optional<RegionTimes> only = region.One(1);
    if (!only) return {};
    samples.Add(*only);
    return samples.Summary(1);
  }
  const std::optional<double> warm_us = WarmUp(region, options);
  if (!warm_us) return {};
  const int batch =
      std::clamp(static_cast<int>(std::ceil(options.min_batch_us / std::max(*warm_us, 0.01))), 1, region.most_calls());
  const int min_runs = *warm_us > options.slow_run_ms * 1000 ? options.min_runs_slow : options.min_runs;

  const double start = region.Now();
  int next_check = min_runs;
  while (true) {
    const double left_ms = options.max_ms - (region.Now() - start) / 1e6;
    const double most = std::max(1.0, left_ms * 1000 / std::max(*warm_us * batch, 0.01));
    const int wanted = std::min(next_check, options.max_runs) - samples.count();
    const std::vector<RegionTimes> times = region.Several(static_cast<int>(std::min<double>(wanted, most)), batch);
    if (times.empty()) return {};
    for (const RegionTimes& each : times) samples.Add(each);
    const int n = samples.count();
    const bool late = (region.Now() - start) / 1e6 > options.max_ms;
    if (n < min_runs) {
      // The time limit has precedence over min_runs, but not over min_runs_slow.
      if (n >= options.min_runs_slow && late) break;
      continue;
    }
    if (n >= options.max_runs || late) break;
    if (n < next_check) continue;
    next_check = n + std::max(1, n / 8);  // sorting after every run would cost more than the run
    if (samples.AgreeTo(options.interval)) break;
  }
  return samples.Summary(batch);
}

}  // namespace

double SteadyNowNs() {
  return static_cast<double>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

double ThreadCpuNs() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
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
  // The number of samples below the true median is binomial(n, 1/2): ranks n/2 +- 1.96 sqrt(n)/2
  // contain it with 95 % probability.
  const double reach = 0.98 * std::sqrt(static_cast<double>(n));
  const int low = std::clamp(static_cast<int>(std::floor(n / 2.0 - reach)), 0, n - 1);
  const int high = std::clamp(static_cast<int>(std::ceil(n / 2.0 + reach)), 0, n - 1);
  latency.ci_low_us = samples_us[low];
  latency.ci_high_us = samples_us[high];
  return latency;
}

store::Latency MeasureLatency(const std::function<void()>& call, const MeterOptions& options, const ClockNs& now_ns,
                              const RegionHooks& hooks) {
  const std::function<double()>& pulse = options.pulse;
  const auto time = [&](int, int calls) {
    if (hooks.settle) hooks.settle();
    const double before = pulse ? pulse() : 0;
    const long preemptions = pulse ? Preemptions() : 0;
    const double start_cpu_ns = options.one_thread ? ThreadCpuNs() : 0;
    const double start = now_ns();
    if (hooks.begin) hooks.begin();
    for (int i = 0; i < calls; ++i) call();
    const double device_us = hooks.end ? hooks.end() : 0;
    const double wall_us = (now_ns() - start) / 1000;
    const double cpu_us = options.one_thread ? (ThreadCpuNs() - start_cpu_ns) / 1000 : 0;
    const bool preempted = pulse && Preemptions() != preemptions;  // by one that ran between the pulses
    const double ratio = pulse ? std::max({before, pulse(), preempted ? 2 * kQuietPulse : 0}) : 0;
    return std::vector<RegionTimes>{{wall_us / calls, device_us / calls, ratio, wall_us, cpu_us / calls}};
  };
  return Measure(Region(time, now_ns, hooks.most_calls, 1), options);
}

store::Latency MeasureElsewhere(const TimedElsewhere& timed, const MeterOptions& options) {
  const std::function<double()>& pulse = options.pulse;
  if (!pulse)
    return Measure(Region(timed.time, SteadyNowNs, std::numeric_limits<int>::max(), timed.most_regions), options);
  // As many regions between two pulses as last some milliseconds: asking takes a tenth of one.
  double region_us = 0;
  const auto time = [&](int regions, int calls) {
    std::vector<RegionTimes> all;
    while (static_cast<int>(all.size()) < regions) {
      const double fit = kBetweenPulsesUs / std::max(region_us, 1.0);
      const int left = regions - static_cast<int>(all.size());
      const double before = pulse();
      std::vector<RegionTimes> times = timed.time(std::clamp(static_cast<int>(std::min(fit, 1e6)), 1, left), calls);
      if (times.empty()) return times;
      const double ratio = std::max(before, pulse());
      region_us = times.back().wall_us * calls;
      for (RegionTimes& each : times) {
        each.pulse_ratio = ratio;
        each.region_us = region_us * static_cast<double>(times.size());
      }
      all.insert(all.end(), times.begin(), times.end());
    }
    return all;
  };
  return Measure(Region(time, SteadyNowNs, std::numeric_limits<int>::max(), timed.most_regions), options);
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
