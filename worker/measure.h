// One subject, measured in this process: the record of a graph, and the canary that tells whether the machine is as it
// was.
#ifndef COBRA_WORKER_MEASURE_H_
#define COBRA_WORKER_MEASURE_H_

#include <cmath>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "worker/meter.h"
#include "store/record.h"

namespace cobra {

struct MeasureOptions {
  MeterOptions meter;
  int profiled_runs = 0;  // > 0: node_latency_us, the median of so many passes with a clock around every node
  uint64_t seed = 1;      // of weights and inputs
};

// Outcome, message, latency, peak memory, node latencies, fingerprint and graph text; never fails otherwise: a failure
// is a record.
Record MeasureGraph(const Graph& graph, const MeasureOptions& options);

// MEASURING.md's rules in full, and two shorter ones for a series of thousands.
MeasureOptions CarefulRules();
MeasureOptions LayerSeriesRules();
MeasureOptions NetworkSeriesRules();
MeasureOptions ProbeRules();

struct CanaryTimes {
  double conv_us = 0, matmul_us = 0, copy_us = 0;
};

// A convolution, a matrix product and a copy, a few milliseconds each.
class Canary {
 public:
  static absl::StatusOr<std::unique_ptr<Canary>> Create();
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

// What this machine reaches: a product of 1024 x 1024 matrices, and a copy far larger than its caches (bytes read +
// written).
struct MachineSpeed {
  double peak_gflops = 0, memory_gb_per_s = 0;
};
absl::StatusOr<MachineSpeed> MeasureMachineSpeed();

}  // namespace cobra

#endif  // COBRA_WORKER_MEASURE_H_
