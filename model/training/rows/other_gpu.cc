#include "model/training/rows/other_gpu.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "graph/cost/cost.h"
#include "model/predict/target/sheet_comparison.h"
#include "model/predict/work/call_work.h"
#include "model/predict/work/features.h"

namespace cobra::training {
namespace {

using predict::TargetSpec;

constexpr double kLongCallUs = 300, kLaunchesOverWork = 10, kMostLogFactor = 1.4;
// Of a long row that arithmetic holds back: at least so much of its time at the peak. Of one that
// moves data alone: at most so much there, and at the bandwidth half as much as of old GPUs, whose
// norms of long rows reach half of it.
constexpr double kComputes = 0.5, kComputesNot = 0.1, kMovesData = 0.25;
constexpr double kFreeLogFactor = 0.7;
// PyTorch's default: TF32 in convolutions alone, on GPUs that have it; up to eight times as fast.
constexpr char kFloat32[] = "float32", kTf32[] = "tf32-convolutions";
constexpr double kMostTf32LogFactor = 2.1;
constexpr double TargetSpec::*kArithmetic[] = {&TargetSpec::peak_gflops, &TargetSpec::convolution_gflops,
                                               &TargetSpec::pointwise_gflops, &TargetSpec::depthwise_gflops,
                                               &TargetSpec::board_power_w};
constexpr double TargetSpec::*kBandwidth[] = {&TargetSpec::memory_gb_per_s, &TargetSpec::l2_gb_per_s,
                                              &TargetSpec::l3_gb_per_s};
constexpr double TargetSpec::*kSizes[] = {&TargetSpec::cores, &TargetSpec::clock_mhz, &TargetSpec::last_level_cache_mb};

// Of all arithmetic at the peak, and of all bytes at the bandwidth.
struct PeakUs {
  double arithmetic, bytes;
};
PeakUs PeakUsOf(const Sample& row, const TargetSpec& spec) {
  const graph::GraphCost cost = graph::CostOf(row.graph());
  const auto bytes = static_cast<double>(cost.activation_bytes) + static_cast<double>(cost.weight_bytes);
  return {static_cast<double>(cost.flops) / spec.peak_gflops / 1e3, bytes / spec.memory_gb_per_s / 1e3};
}

// Of all arithmetic at what the peak is with the power that the board has.
double SustainedUs(const PeakUs& peak, const TargetSpec& spec) {
  return peak.arithmetic * std::exp2(-predict::LogPowerLimit(spec));
}

bool HasConvolution(const graph::Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), predict::IsConvolution);
}

class Drawing {
 public:
  Drawing(const TargetSpec& spec, std::mt19937_64* random) : random_(*random) { other_.spec = spec; }

  double Factor(double least_log, double most_log) {
    return std::exp(std::uniform_real_distribution<>(least_log, most_log)(random_));
  }
  template <size_t n>
  void Scale(double TargetSpec::*const (&numbers)[n], double factor) {
    for (double TargetSpec::*number : numbers) (*other_.spec).*number *= factor;
  }
  template <size_t n>
  void ScaleEach(double TargetSpec::*const (&numbers)[n], double least_log, double most_log) {
    for (double TargetSpec::*number : numbers) (*other_.spec).*number *= Factor(least_log, most_log);
  }
  double Faster() {
    const double factor = Factor(-kMostLogFactor, kMostLogFactor);
    other_.log_faster = std::log(factor);
    return factor;
  }
  // By more multiprocessors, or by a higher clock.
  void ScaleMultiprocessors(double factor) {
    (random_() % 2 == 0 ? other_.spec->cores : other_.spec->clock_mhz) *= factor;
  }
  // Another limit of the board's power, of a row that arithmetic holds back. Not of one that moves
  // data: that does not depend on power, but with many watts for each TFLOPS comes fast memory, of
  // whose bandwidth kernels reach more.
  void DrawPower() {
    TargetSpec& spec = *other_.spec;
    const float limit = predict::LogPowerLimit(spec);
    spec.board_power_w *= Factor(-kMostLogFactor, kMostLogFactor);
    other_.log_faster += std::log(2.0) * (predict::LogPowerLimit(spec) - limit);
  }
  // In what convolutions compute, and how fast.
  void DrawConvolutions() {
    TargetSpec& spec = *other_.spec;
    if (spec.precision != kFloat32 && spec.precision != kTf32) return;
    spec.precision = random_() % 2 == 0 ? kFloat32 : kTf32;
    spec.convolution_gflops = spec.peak_gflops * (spec.precision == kTf32 ? Factor(0, kMostTf32LogFactor) : 1);
  }
  OtherGpu Take() { return std::move(other_); }

 private:
  OtherGpu other_;
  std::mt19937_64& random_;
};

}  // namespace

OtherGpu OtherGpuFor(const Sample& row, const TargetSpec& spec, std::mt19937_64* random) {
  if (!(spec.peak_gflops > 0 && spec.memory_gb_per_s > 0)) return OtherGpu();
  const PeakUs peak = PeakUsOf(row, spec);
  const double latency_us = row.latency_us();
  Drawing drawing(spec, random);
  if (latency_us >= kLongCallUs * static_cast<double>(row.graph().nodes().size())) {
    const double faster = drawing.Faster();
    drawing.Scale(kBandwidth, faster);
    const double sustained_us = SustainedUs(peak, spec);
    const bool moves_data = peak.bytes >= kMovesData * latency_us && sustained_us <= kComputesNot * latency_us;
    // TF32 takes less power than what the peak is of.
    const bool computes =
        sustained_us >= kComputes * latency_us && !(spec.precision == kTf32 && HasConvolution(row.graph()));
    const double arithmetic = moves_data ? drawing.Factor(-kFreeLogFactor, kFreeLogFactor) : faster;
    drawing.Scale(kArithmetic, arithmetic);
    drawing.ScaleMultiprocessors(arithmetic);
    if (computes) {
      drawing.Scale(kBandwidth, drawing.Factor(0, kFreeLogFactor));
      if (!predict::IsAmd(spec)) drawing.DrawPower();  // what a TFLOPS takes was found on NVIDIA's GPUs
    }
  } else if (latency_us >= kLaunchesOverWork * (peak.arithmetic + peak.bytes)) {
    drawing.ScaleEach(kArithmetic, 0, kMostLogFactor);
    drawing.ScaleEach(kBandwidth, 0, kMostLogFactor);
    drawing.ScaleEach(kSizes, 0, kMostLogFactor);
  }
  if (!HasConvolution(row.graph())) drawing.DrawConvolutions();
  return drawing.Take();
}

}  // namespace cobra::training
