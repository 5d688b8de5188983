#include "worker/measure.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/fingerprint.h"
#include "graph/json.h"
#include "worker/executor.h"
#include "worker/net_builder.h"

namespace cobra {
namespace {

Outcome OutcomeOf(const absl::Status& status) {
  if (absl::IsUnimplemented(status)) return Outcome::unsupported;
  if (absl::IsResourceExhausted(status)) return Outcome::out_of_memory;
  return Outcome::crashed;
}

absl::Status MeasureInto(const Graph& graph, const MeasureOptions& options, Record* record) {
  COBRA_ASSIGN_OR_RETURN(std::unique_ptr<Executor> executor, Executor::Create(graph, options.seed));
  const double start_ns = SteadyNowNs();
  COBRA_RETURN_IF_ERROR(executor->RunChecked());
  const double cold_us = (SteadyNowNs() - start_ns) / 1000;
  COBRA_ASSIGN_OR_RETURN(record->peak_memory_bytes, executor->PeakMemoryBytes());
  absl::Status failure;
  record->latency = MeasureLatency(
      [&] {
        if (absl::Status status = executor->Run(); !status.ok()) failure = std::move(status);
      },
      options.meter);
  COBRA_RETURN_IF_ERROR(failure);
  record->latency.cold_us = cold_us;
  if (options.profiled_runs == 0) return absl::OkStatus();
  std::vector<std::vector<double>> runs(graph.nodes().size());
  for (int i = 0; i < options.profiled_runs; ++i) {
    COBRA_ASSIGN_OR_RETURN(const std::vector<double> us, executor->RunProfiled());
    for (size_t k = 0; k < us.size(); ++k) runs[k].push_back(us[k]);
  }
  for (std::vector<double>& of_node : runs) record->node_latency_us.push_back(Median(std::move(of_node)));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Executor>> ExecutorOf(NetBuilder builder, ValueRef output) {
  COBRA_ASSIGN_OR_RETURN(const Graph graph, std::move(builder).Finish(output));
  return Executor::Create(graph, 1);
}

double MedianOfRuns(Executor* executor, int runs) {
  std::vector<double> samples_us;
  for (int i = 0; i < runs; ++i) {
    const double start_ns = SteadyNowNs();
    if (!executor->Run().ok()) return 0;
    samples_us.push_back((SteadyNowNs() - start_ns) / 1000);
  }
  return Median(std::move(samples_us));
}

absl::StatusOr<std::unique_ptr<Executor>> SquareProduct(int64_t size) {
  NetBuilder b;
  const ValueRef left = b.Input({size, size}), right = b.Input({size, size});
  const ValueRef product = b.Call(Op::mm, {}, {left, right});
  return ExecutorOf(std::move(b), product);
}

absl::StatusOr<std::unique_ptr<Executor>> CopyOf(int64_t floats) {
  NetBuilder b;
  const ValueRef to = b.Input({floats}), from = b.Input({floats});
  const ValueRef copy = b.Call(Op::copy, {}, {to, from}, /*inplace=*/true);
  return ExecutorOf(std::move(b), copy);
}

}  // namespace

Record MeasureGraph(const Graph& graph, const MeasureOptions& options) {
  Record record;
  record.fingerprint = Fingerprint(graph).ToHex();
  record.graph_json = GraphToJson(graph, {/*origins=*/false});
  if (const absl::Status status = MeasureInto(graph, options, &record); !status.ok()) {
    record.outcome = OutcomeOf(status);
    record.message = std::string(status.message());
  }
  return record;
}

MeasureOptions CarefulRules() {
  MeasureOptions options;
  options.profiled_runs = 5;
  return options;
}

MeasureOptions LayerSeriesRules() {
  MeasureOptions options;
  options.meter.warmup_ms = 20;
  options.meter.warmup_max_ms = 100;
  options.meter.max_ms = 250;
  options.meter.single_run_above_ms = 200;
  return options;
}

MeasureOptions NetworkSeriesRules() {
  MeasureOptions options;
  options.meter.warmup_max_ms = 500;
  options.meter.max_ms = 1500;
  options.meter.min_runs_slow = 5;
  options.profiled_runs = 3;
  return options;
}

MeasureOptions ProbeRules() {
  MeasureOptions options;
  options.meter.warmup_max_ms = 200;
  options.meter.max_ms = 400;
  return options;
}

class Canary::Impl {
 public:
  std::unique_ptr<Executor> conv, matmul, copy;
};

Canary::Canary(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Canary::~Canary() = default;

absl::StatusOr<std::unique_ptr<Canary>> Canary::Create() {
  auto impl = std::make_unique<Impl>();
  NetBuilder b;
  const ValueRef y = b.Conv(b.Input({1, 64, 56, 56}), {64, 3, 1, 1});
  COBRA_ASSIGN_OR_RETURN(impl->conv, ExecutorOf(std::move(b), y));
  COBRA_ASSIGN_OR_RETURN(impl->matmul, SquareProduct(512));
  COBRA_ASSIGN_OR_RETURN(impl->copy, CopyOf(int64_t{8} << 20));
  return std::unique_ptr<Canary>(new Canary(std::move(impl)));
}

CanaryTimes Canary::Measure() {
  CanaryTimes times;
  times.conv_us = MedianOfRuns(impl_->conv.get(), 9);
  times.matmul_us = MedianOfRuns(impl_->matmul.get(), 9);
  times.copy_us = MedianOfRuns(impl_->copy.get(), 9);
  return times;
}

double WorseRatio(double a, double b) { return std::abs(std::log(a)) > std::abs(std::log(b)) ? a : b; }

CanaryRatios RatiosOf(const CanaryTimes& times, const CanaryTimes& usual) {
  const auto ratio = [](double now, double before) { return now > 0 && before > 0 ? now / before : 1; };
  return {WorseRatio(ratio(times.conv_us, usual.conv_us), ratio(times.matmul_us, usual.matmul_us)),
          ratio(times.copy_us, usual.copy_us)};
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

absl::StatusOr<MachineSpeed> MeasureMachineSpeed() {
  constexpr int64_t kSize = 1024, kFloats = int64_t{32} << 20;
  MachineSpeed speed;
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<Executor> product, SquareProduct(kSize));
  MedianOfRuns(product.get(), 3);
  const double product_us = MedianOfRuns(product.get(), 9);
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<Executor> copy, CopyOf(kFloats));
  MedianOfRuns(copy.get(), 2);
  const double copy_us = MedianOfRuns(copy.get(), 7);
  if (product_us > 0) speed.peak_gflops = 2.0 * kSize * kSize * kSize / product_us / 1000;
  if (copy_us > 0) speed.memory_gb_per_s = 2.0 * sizeof(float) * kFloats / copy_us / 1000;
  return speed;
}

}  // namespace cobra
