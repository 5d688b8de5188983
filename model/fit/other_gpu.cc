#include "model/fit/other_gpu.h"

#include <cmath>

#include "graph/cost.h"

namespace cobra::fit {
namespace {

using predict::TargetSpec;

constexpr double kLongCallUs = 300, kLaunchesOverWork = 10, kMostLogFactor = 1.4;
constexpr double TargetSpec::*kRates[] = {&TargetSpec::peak_gflops,        &TargetSpec::memory_gb_per_s,
                                          &TargetSpec::convolution_gflops, &TargetSpec::pointwise_gflops,
                                          &TargetSpec::depthwise_gflops,   &TargetSpec::l2_gb_per_s,
                                          &TargetSpec::l3_gb_per_s,        &TargetSpec::board_power_w};
constexpr double TargetSpec::*kSizes[] = {&TargetSpec::cores, &TargetSpec::clock_mhz, &TargetSpec::last_level_cache_mb};

// Of all arithmetic at the peak, and all bytes at the bandwidth, one after the other.
double WorkUs(const Sample& row, const TargetSpec& spec) {
  const graph::GraphCost cost = graph::CostOf(row.graph);
  const auto bytes = static_cast<double>(cost.activation_bytes) + static_cast<double>(cost.weight_bytes);
  return (static_cast<double>(cost.flops) / spec.peak_gflops + bytes / spec.memory_gb_per_s) / 1e3;
}

}  // namespace

OtherGpu OtherGpuFor(const Sample& row, const TargetSpec& spec, std::mt19937_64* random) {
  OtherGpu other;
  if (!(spec.peak_gflops > 0 && spec.memory_gb_per_s > 0)) return other;
  const auto calls = static_cast<double>(row.graph.nodes().size());
  if (row.latency_us() >= kLongCallUs * calls) {
    other.spec = spec;
    other.log_faster = std::uniform_real_distribution<>(-kMostLogFactor, kMostLogFactor)(*random);
    const double factor = std::exp(other.log_faster);
    for (double TargetSpec::*rate : kRates) (*other.spec).*rate *= factor;
    ((*random)() % 2 == 0 ? other.spec->cores : other.spec->clock_mhz) *= factor;
  } else if (row.latency_us() >= kLaunchesOverWork * WorkUs(row, spec)) {
    other.spec = spec;
    std::uniform_real_distribution<> more(0, kMostLogFactor);
    for (double TargetSpec::*rate : kRates) (*other.spec).*rate *= std::exp(more(*random));
    for (double TargetSpec::*size : kSizes) (*other.spec).*size *= std::exp(more(*random));
  }
  return other;
}

}  // namespace cobra::fit
