// Measures one subject in this process: the record of a graph, and the canary that detects whether
// the machine's speed has changed.
#ifndef COBRA_WORKER_RUN_MEASURE_H_
#define COBRA_WORKER_RUN_MEASURE_H_

#include <cmath>
#include <cstdint>
#include <istream>
#include <memory>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "store/measurement.h"
#include "worker/machine/execution.h"
#include "worker/machine/sensors.h"
#include "worker/meter/meter.h"

namespace cobra::worker {

struct MeasureOptions {
  MeterOptions meter;
  // If > 0: number of passes with a clock around every node; node_latency_us is their median.
  int profiled_runs = 0;
  // Seed of weights and inputs.
  uint64_t seed = 1;
  Execution execution;
  // Duration of additional calls to measure their energy; 0: not measured.
  double energy_region_ms = 200;
  // Sensors of the device, which outlive the call; null: its state is not read.
  Sensors* sensors = nullptr;
};

// What an error of a graph that is measured means. A runner that hangs is a timeout.
store::Outcome OutcomeOf(const absl::Status& status);
// With the graph and the state of the caches, to be filled in.
store::Measurement EmptyMeasurement(const graph::Graph& graph, const MeasureOptions& options);
// Outcome, message, latency, peak memory, node latencies, energy, clocks, graph and fingerprint.
// Never fails: a failure is a measurement.
store::Measurement MeasureGraph(const graph::Graph& graph, const MeasureOptions& options);

// For each line of `asks`, measures the graph for a window of `options.meter` and writes a line
// {"latency_us", "runs"}, until `asks` ends. Another program on the same core can be measured in
// between, so that disturbances of a shared machine affect both equally.
absl::Status MeasureInterleaved(const graph::Graph& graph, const MeasureOptions& options, std::istream& asks,
                                std::ostream& answers);

// The full rules of docs/measurements.md, and two shorter ones for a series of thousands. On a GPU
// a region lasts at least 500 us (the wait at its end costs some 10). A single measurement is
// warmed up for 200 ms; in a series the device is never idle.
MeasureOptions CarefulRules(const Execution& execution = {});
MeasureOptions LayerSeriesRules(const Execution& execution = {});
MeasureOptions NetworkSeriesRules(const Execution& execution = {});
MeasureOptions ProbeRules(const Execution& execution = {});
// A quarter of a second per measurement.
MeasureOptions InterleavedRules(const Execution& execution = {});

struct CanaryTimes {
  double conv_us = 0, matmul_us = 0, copy_us = 0;
  // Wall time over processor time: above 1 others ran on this core meanwhile, in slices that may be
  // longer than a run and so not show in a median. 1 for several threads and for a GPU, which wait
  // for each other.
  double core_ratio = 1;
};

// A convolution, a matrix product and a copy, a few milliseconds each (larger ones on a GPU, to use
// all of it). Without LibTorch there is no convolution: its time is 0.
class Canary {
 public:
  static absl::StatusOr<std::unique_ptr<Canary>> Create(const Execution& execution = {});
  ~Canary();
  CanaryTimes Measure();

 private:
  class Impl;
  explicit Canary(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// `times` over `usual`. Compute is the worst of convolution, matrix product and `core_ratio`. On a
// virtual machine memory speed varies with the load of other machines, so the copy has a separate
// ratio and tolerance.
struct CanaryRatios {
  double compute = 1, copy = 1;
};
CanaryRatios RatiosOf(const CanaryTimes& times, const CanaryTimes& usual);
// The one further from 1, in log distance.
double WorseRatio(double a, double b);
CanaryTimes MedianCanary(absl::Span<const CanaryTimes> times);
// The worst of `times` over `usual`.
CanaryRatios WorstRatios(absl::Span<const CanaryTimes> times, const CanaryTimes& usual);

// Beyond these the machine was disturbed, and the group is measured again.
constexpr double kCanaryTolerance = 0.05;
constexpr double kCanaryCopyTolerance = 0.25;
inline bool IsDisturbed(const CanaryRatios& ratios, double tolerance = kCanaryTolerance,
                        double copy_tolerance = kCanaryCopyTolerance) {
  return std::abs(ratios.compute - 1) > tolerance || std::abs(ratios.copy - 1) > copy_tolerance;
}

// The median ratio of the runs to their undisturbed time; 1 if unknown.
double DisturbanceRatio(const store::Latency& latency);
// Whether something else ran on the machine, so that it changed Latency::median_us: the canary says
// so, the median is longer than the undisturbed time, or the runs are too long to tell and
// something was noticed beside most of them. Conditions::suspect says more: not even the
// undisturbed time is known.
bool IsDisturbed(const store::Measurement& measurement, const CanaryRatios& canary);
// The same in words, for the person who asked for this one number; a line.
std::string DisturbedWarning(const store::Latency& latency);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_RUN_MEASURE_H_
