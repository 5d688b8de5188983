#include "worker/run/measure.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "graph/builder/net_builder.h"
#include "graph/form/fingerprint.h"
#include "graph/form/json.h"
#include "store/measurement_json.h"
#include "worker/execute/executor.h"
#include "worker/meter/pulse.h"
#include "worker/run/speeds.h"

namespace cobra::worker {
namespace {

// The median of passes; if a neighbour was in most of them, each node's fastest.
absl::StatusOr<std::vector<double>> Profile(Executor* executor, size_t nodes, const MeasureOptions& options) {
  const std::function<double()>& pulse = options.meter.pulse;
  std::vector<std::vector<double>> all(nodes), quiet(nodes);
  int quiet_passes = 0;
  for (int i = 0; i < options.profiled_runs; ++i) {
    const double before = pulse ? pulse() : 0;
    COBRA_ASSIGN_OR_RETURN(const std::vector<double> us, executor->RunProfiled());
    const bool is_quiet = !pulse || std::max(before, pulse()) <= kQuietPulse;
    quiet_passes += is_quiet;
    for (size_t k = 0; k < us.size(); ++k) {
      all[k].push_back(us[k]);
      if (is_quiet) quiet[k].push_back(us[k]);
    }
  }
  std::vector<double> of_nodes;
  for (size_t k = 0; k < nodes; ++k) {
    of_nodes.push_back(2 * quiet_passes > options.profiled_runs ? Median(std::move(quiet[k]))
                                                                : *std::min_element(all[k].begin(), all[k].end()));
  }
  return of_nodes;
}

absl::Status MeasureInto(const graph::Graph& graph, const MeasureOptions& options, store::Measurement* measurement) {
  COBRA_ASSIGN_OR_RETURN(std::unique_ptr<Executor> executor, Executor::Create(graph, options.seed, options.execution));
  const double start_ns = SteadyNowNs();
  COBRA_RETURN_IF_ERROR(executor->RunChecked());
  const double cold_us = (SteadyNowNs() - start_ns) / 1000;
  COBRA_ASSIGN_OR_RETURN(measurement->peak_memory_bytes, executor->PeakMemoryBytes());
  absl::Status failure;
  const auto call = [&] {
    if (absl::Status status = executor->Run(); !status.ok()) failure = std::move(status);
  };
  const RegionHooks hooks = executor->Hooks();
  measurement->latency = MeasureLatency(call, options.meter, SteadyNowNs, hooks);
  COBRA_RETURN_IF_ERROR(failure);
  COBRA_RETURN_IF_ERROR(executor->failure());
  measurement->latency.cold_us = cold_us;
  if (options.sensors != nullptr && options.energy_region_ms > 0) {
    measurement->energy_j = MeasureEnergy(
        call, measurement->latency.median_us, options.energy_region_ms, [&] { return options.sensors->Joules(); },
        hooks);
  }
  if (options.profiled_runs == 0) return absl::OkStatus();
  COBRA_ASSIGN_OR_RETURN(measurement->node_latency_us, Profile(executor.get(), graph.nodes().size(), options));
  return absl::OkStatus();
}

MeasureOptions OnDevice(MeasureOptions options, const Execution& execution) {
  options.execution = execution;
  if (execution.is_cuda()) options.meter.min_batch_us = 500;
  return options;
}

}  // namespace

store::Outcome OutcomeOf(const absl::Status& status) {
  if (absl::IsUnimplemented(status)) return store::Outcome::unsupported;
  if (absl::IsResourceExhausted(status)) return store::Outcome::out_of_memory;
  if (absl::IsDeadlineExceeded(status)) return store::Outcome::timeout;
  return store::Outcome::crashed;
}

store::Measurement EmptyMeasurement(const graph::Graph& graph, const MeasureOptions& options) {
  store::Measurement measurement;
  store::SetGraph(graph, &measurement.subject);
  measurement.conditions.cache = std::string(CacheName(options.execution.cache));
  return measurement;
}

store::Measurement MeasureGraph(const graph::Graph& graph, const MeasureOptions& options) {
  store::Measurement measurement = EmptyMeasurement(graph, options);
  store::Conditions& conditions = measurement.conditions;
  SensorReadings before;
  if (options.sensors != nullptr) before = options.sensors->Read();
  if (const absl::Status status = MeasureInto(graph, options, &measurement); !status.ok()) {
    measurement.outcome = OutcomeOf(status);
    measurement.message = std::string(status.message());
    if (measurement.outcome == store::Outcome::out_of_memory && !DeviceIsBroken()) FreeDeviceMemory(options.execution);
  }
  if (options.sensors != nullptr) {
    const SensorReadings after = options.sensors->Read();
    conditions.clock_before_mhz = before.clock_mhz;
    conditions.clock_after_mhz = after.clock_mhz;
    conditions.memory_clock_mhz = after.memory_clock_mhz;
    conditions.temperature_c = after.temperature_c;
    conditions.power_w = after.power_w;
  }
  return measurement;
}

absl::Status MeasureInterleaved(const graph::Graph& graph, const MeasureOptions& options, std::istream& asks,
                                std::ostream& answers) {
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<Executor> executor,
                         Executor::Create(graph, options.seed, options.execution));
  COBRA_RETURN_IF_ERROR(executor->RunChecked());
  absl::Status failure;
  const auto call = [&] {
    if (absl::Status status = executor->Run(); !status.ok()) failure = std::move(status);
  };
  for (std::string line; std::getline(asks, line);) {
    store::Measurement turn;
    turn.latency = MeasureLatency(call, options.meter, SteadyNowNs, executor->Hooks());
    COBRA_RETURN_IF_ERROR(failure);
    COBRA_RETURN_IF_ERROR(executor->failure());
    answers << store::FieldsToJson(turn, {"latency_us", "runs"}) << std::endl;
  }
  return absl::OkStatus();
}

MeasureOptions CarefulRules(const Execution& execution) {
  MeasureOptions options;
  if (execution.is_cuda()) options.meter.warmup_ms = 200;
  options.profiled_runs = 5;
  return OnDevice(options, execution);
}

MeasureOptions LayerSeriesRules(const Execution& execution) {
  MeasureOptions options;
  options.meter.warmup_ms = 20;
  options.meter.warmup_max_ms = 100;
  options.meter.max_ms = 250;
  options.meter.single_run_above_ms = 200;
  options.energy_region_ms = 0;  // would take longer than everything else
  return OnDevice(options, execution);
}

MeasureOptions NetworkSeriesRules(const Execution& execution) {
  MeasureOptions options;
  options.meter.warmup_max_ms = 500;
  options.meter.max_ms = 1500;
  options.meter.min_runs_slow = 5;
  options.profiled_runs = 3;
  return OnDevice(options, execution);
}

MeasureOptions ProbeRules(const Execution& execution) {
  MeasureOptions options;
  options.meter.warmup_max_ms = 200;
  options.meter.max_ms = 400;
  options.energy_region_ms = 0;
  options.profiled_runs = 3;
  return OnDevice(options, execution);
}

MeasureOptions InterleavedRules(const Execution& execution) {
  MeasureOptions options;
  options.meter.warmup_ms = 30;
  options.meter.warmup_max_ms = 50;
  options.meter.max_ms = 200;
  options.meter.interval = 0;  // use the whole turn: stopping as soon as the runs agree would prefer quiet moments
  options.meter.min_batch_us = 1000;  // as torch.utils.benchmark does
  return OnDevice(options, execution);
}

class Canary::Impl {
 public:
  TimedLoop conv, matmul, copy;
  bool one_thread = false;
};

Canary::Canary(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Canary::~Canary() = default;

absl::StatusOr<std::unique_ptr<Canary>> Canary::Create(const Execution& execution) {
  const bool large = execution.is_cuda();
  auto impl = std::make_unique<Impl>();
  impl->one_thread = !execution.is_cuda() && execution.threads == 1;
  if (HasLibTorch()) {
    graph::NetBuilder b;
    const graph::ValueRef y =
        b.Conv2d(b.Input({large ? 64 : 1, 64, 56, 56}), {.out_channels = 64, .kernel_size = 3, .padding = 1});
    COBRA_ASSIGN_OR_RETURN(const graph::Graph graph, std::move(b).Finish({y}));
    COBRA_ASSIGN_OR_RETURN(impl->conv, LibTorchLoop(graph, execution));
  }
  COBRA_ASSIGN_OR_RETURN(impl->matmul, ProductLoop(large ? 4096 : 512, execution));
  COBRA_ASSIGN_OR_RETURN(impl->copy, CopyLoop(int64_t{large ? 128 : 8} << 20, execution));
  return std::unique_ptr<Canary>(new Canary(std::move(impl)));
}

CanaryTimes Canary::Measure() {
  constexpr int kRuns = 9;
  CanaryTimes times;
  const double start_ns = SteadyNowNs(), start_cpu_ns = ThreadCpuNs();
  if (impl_->conv) times.conv_us = impl_->conv(kRuns);
  times.matmul_us = impl_->matmul(kRuns);
  times.copy_us = impl_->copy(kRuns);
  if (impl_->one_thread) {
    times.core_ratio = std::max(1.0, (SteadyNowNs() - start_ns) / std::max(1.0, ThreadCpuNs() - start_cpu_ns));
  }
  return times;
}

double WorseRatio(double a, double b) { return std::abs(std::log(a)) > std::abs(std::log(b)) ? a : b; }

CanaryRatios RatiosOf(const CanaryTimes& times, const CanaryTimes& usual) {
  const auto ratio = [](double now, double before) { return now > 0 && before > 0 ? now / before : 1; };
  const double compute = WorseRatio(ratio(times.conv_us, usual.conv_us), ratio(times.matmul_us, usual.matmul_us));
  return {WorseRatio(compute, times.core_ratio), ratio(times.copy_us, usual.copy_us)};
}

double DisturbanceRatio(const store::Latency& latency) {
  return latency.quiet_us > 0 ? latency.median_us / latency.quiet_us : 1;
}

bool IsDisturbed(const store::Measurement& measurement, const CanaryRatios& canary) {
  // The fastest of many runs is faster than their median on a quiet machine, too.
  constexpr double kOfQuietRuns = 1.05, kOfFastest = 1.1;
  const store::Latency& latency = measurement.latency;
  if (measurement.outcome != store::Outcome::ok) return false;
  const bool knows_quiet = latency.quiet_runs > 0;
  return DisturbanceRatio(latency) > (knows_quiet ? kOfQuietRuns : kOfFastest) ||
         (!knows_quiet && (IsDisturbed(canary) || 2 * latency.loud_runs > latency.runs));
}

std::string DisturbedWarning(const store::Latency& latency) {
  constexpr double kTold = 1.01;
  const double ratio = DisturbanceRatio(latency);
  std::string text = "warning: other programs ran on this processor meanwhile: ";
  if (ratio > kTold) {
    absl::StrAppendFormat(&text, "the median, %.4g ms, is %.2f times what it takes undisturbed, %s%.4g ms\n",
                          latency.median_us / 1000, ratio, latency.quiet_runs > 0 ? "" : "at most ",
                          latency.quiet_us / 1000);
  } else {
    absl::StrAppend(&text, "it may take less on a quiet machine; measure again when it is idle\n");
  }
  return text;
}

CanaryTimes MedianCanary(absl::Span<const CanaryTimes> times) {
  std::vector<double> conv, matmul, copy;
  for (const CanaryTimes& t : times) {
    conv.push_back(t.conv_us);
    matmul.push_back(t.matmul_us);
    copy.push_back(t.copy_us);
  }
  return {Median(conv), Median(matmul), Median(copy)};
}

CanaryRatios WorstRatios(absl::Span<const CanaryTimes> times, const CanaryTimes& usual) {
  CanaryRatios worst;
  for (const CanaryTimes& t : times) {
    const CanaryRatios here = RatiosOf(t, usual);
    worst = {WorseRatio(worst.compute, here.compute), WorseRatio(worst.copy, here.copy)};
  }
  return worst;
}

}  // namespace cobra::worker
