// One subject, measured in this process: the record of a graph, and the canary that tells whether the machine is as it
// was.
#ifndef COBRA_WORKER_MEASURE_H_
#define COBRA_WORKER_MEASURE_H_

#include <cmath>
#include <cstdint>
#include <istream>
#include <memory>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "store/record.h"
#include "worker/execution.h"
#include "worker/meter.h"
#include "worker/sensors.h"

namespace cobra::worker {

struct MeasureOptions {
  MeterOptions meter;
  int profiled_runs = 0;  // > 0: node_latency_us, the median of so many passes with a clock around every node
  uint64_t seed = 1;      // of weights and inputs
  Execution execution;
  double energy_region_ms = 200;  // calls that together last so long, once more, for their energy; 0: not measured
  Sensors* sensors = nullptr;     // of the device, outlives the call; null: nothing of its state is read
};

// Outcome, message, latency, peak memory, node latencies, energy, clocks, fingerprint and graph text; never fails
// otherwise: a failure is a record.
store::Record MeasureGraph(const graph::Graph& graph, const MeasureOptions& options);

// In this process: answers each line of `asks` with a line {"latency_us", "runs"} of the graph run anew for a window of
// `options.meter`, so that another program on the same core can be measured between two of them and what a shared
// machine does falls on both alike. Until `asks` ends.
absl::Status MeasureInTurns(const graph::Graph& graph, const MeasureOptions& options, std::istream& asks,
                            std::ostream& answers);

// MEASURING.md's rules in full, and two shorter ones for a series of thousands. On a GPU a region lasts 500 us and more
// (the wait at its end costs some 10), and what is measured alone is warmed up for 200 ms; in a series the device is
// never idle.
MeasureOptions CarefulRules(const Execution& execution = {});
MeasureOptions LayerSeriesRules(const Execution& execution = {});
MeasureOptions NetworkSeriesRules(const Execution& execution = {});
MeasureOptions ProbeRules(const Execution& execution = {});
MeasureOptions TurnRules(const Execution& execution = {});  // a quarter of a second a turn

struct CanaryTimes {
  double conv_us = 0, matmul_us = 0, copy_us = 0;
};

// A convolution, a matrix product and a copy, a few milliseconds each (GPU: larger ones, so that they fill it).
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

// `times` over `usual`. Compute is the worse of convolution and matrix product; on a virtual machine memory wanders by
// itself with what the neighbours do, so that the two are judged apart.
struct CanaryRatios {
  double compute = 1, copy = 1;
};
CanaryRatios RatiosOf(const CanaryTimes& times, const CanaryTimes& usual);
// The one further from 1, in log distance.
double WorseRatio(double a, double b);
CanaryTimes MedianCanary(absl::Span<const CanaryTimes> times);
// The worst of `times` over `usual`.
CanaryRatios WorstRatios(absl::Span<const CanaryTimes> times, const CanaryTimes& usual);

// Beyond these the machine did something else meanwhile: what was measured then is measured again.
constexpr double kCanaryTolerance = 0.05;
constexpr double kCanaryCopyTolerance = 0.25;
inline bool IsDisturbed(const CanaryRatios& ratios, double tolerance = kCanaryTolerance,
                        double copy_tolerance = kCanaryCopyTolerance) {
  return std::abs(ratios.compute - 1) > tolerance || std::abs(ratios.copy - 1) > copy_tolerance;
}

// What this machine reaches: a product of 1024 x 1024 matrices (GPU: 8192 x 8192), and a copy far larger than its
// caches (bytes read + written).
struct MachineSpeed {
  double peak_gflops = 0, memory_gb_per_s = 0;
};
absl::StatusOr<MachineSpeed> MeasureMachineSpeed(const Execution& execution = {});

}  // namespace cobra::worker

#endif  // COBRA_WORKER_MEASURE_H_
