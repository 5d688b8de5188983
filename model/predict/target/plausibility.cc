#include "model/predict/target/plausibility.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "graph/cost/cost.h"
#include "graph/form/fingerprint.h"
#include "model/predict/target/sheet_check.h"

namespace cobra::predict {
namespace {

// An empty call of a library takes 0.2 us. The worker ends a measurement after two minutes.
constexpr double kShortestUs = 0.01, kLongestUs = 600e6;
// Machines that no number is known of: faster, and slower, than any that runs LibTorch.
constexpr double kFastestGflops = 1e7, kFastestGbPerS = 1e5, kSlowestGflops = 0.5, kSlowestGbPerS = 0.5;
// Winograd's algorithm needs a quarter of the multiplications: the shipped measurements reach 4.2
// times the peak.
constexpr double kAbovePeak = 16;
// cuDNN's needs 4/9 of them, and sheets state what tensor cores do without sparsity.
constexpr double kAbovePeakOfTorchGpu = 8;
// Caches are faster than memory: all of a processor's together by less than this.
constexpr double kAboveMemory = 64;
// The slowest calls of the shipped measurements take 60 times as long as their arithmetic, bytes
// and 10 us.
constexpr double kSlowFactor = 1000, kOverheadUs = 10;
// Of the machine's peak, by its best layer. Slow libraries reach 10 %; milliseconds for
// microseconds are off by 1,000.
constexpr double kLeastOfPeak = 0.01;
constexpr double kLeastMacs = 1e6;  // of a layer that could come near the peak
constexpr double kRepeatFactor = 2;

double KnownOr(double value, double otherwise) { return value > 0 ? value : otherwise; }

// Time of the graph's arithmetic on `gflops`, and of moving its bytes at `gb_per_s`.
struct Work {
  double gflop = 0, written_gb = 0, moved_gb = 0;
};
Work WorkOf(const graph::Graph& graph) {
  Work work;
  const std::vector<graph::NodeCost> costs = graph::NodeCosts(graph);
  for (size_t i = 0; i < costs.size(); ++i) {
    if (graph::IsAlias(graph, graph.nodes()[i])) continue;
    const graph::NodeCost& cost = costs[i];
    work.gflop += 1e-9 * static_cast<double>(cost.flops);
    work.written_gb += 1e-9 * static_cast<double>(cost.output_bytes);
    work.moved_gb += 1e-9 * (static_cast<double>(cost.output_bytes) + static_cast<double>(cost.input_bytes) +
                             static_cast<double>(cost.weight_bytes));
  }
  return work;
}

double MacGflop(const graph::Graph& graph) {
  double macs = 0;
  for (const graph::NodeCost& cost : graph::NodeCosts(graph)) macs += static_cast<double>(cost.macs);
  return 2e-9 * macs;
}

absl::Status CheckMachine(const TargetSpec& machine) {
  for (const std::string* text : {&machine.name, &machine.device, &machine.kind, &machine.runtime, &machine.precision,
                                  &machine.layout, &machine.compile}) {
    if (text->size() > 200 || std::any_of(text->begin(), text->end(), absl::ascii_iscntrl)) {
      return absl::InvalidArgumentError("probe: \"machine\": a text has more than 200 bytes, or a control character");
    }
  }
  if (const absl::Status known = CheckPrecisionName(machine.precision); !known.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("probe: \"machine\": ", known.message()));
  }
  struct Number {
    const char* name;
    double value, most;
  };
  const Number numbers[] = {{"threads", static_cast<double>(machine.threads), 65536},
                            {"peak_gflops", machine.peak_gflops, kFastestGflops},
                            {"memory_gb_per_s", machine.memory_gb_per_s, kFastestGbPerS},
                            {"last_level_cache_mb", machine.last_level_cache_mb, 1e6},
                            {"clock_mhz", machine.clock_mhz, 1e6},
                            {"cores", machine.cores, 1e6},
                            {"vector_bits", machine.vector_bits, 65536},
                            {"l2_cache_mb", machine.l2_cache_mb, 1e6},
                            {"convolution_gflops", machine.convolution_gflops, kFastestGflops},
                            {"pointwise_gflops", machine.pointwise_gflops, kFastestGflops},
                            {"depthwise_gflops", machine.depthwise_gflops, kFastestGflops},
                            {"l2_gb_per_s", machine.l2_gb_per_s, kFastestGbPerS},
                            {"l3_gb_per_s", machine.l3_gb_per_s, kFastestGbPerS},
                            {"page_fault_us", machine.page_fault_us, 1e6}};
  for (const Number& number : numbers) {
    if (number.value >= 0 && number.value <= number.most) continue;
    return absl::InvalidArgumentError(absl::StrCat("probe: \"machine\": ", number.name, " ", number.value,
                                                   ": no machine has that; 0 if it is unknown"));
  }
  return absl::OkStatus();
}

// Records of one subject must agree.
absl::Status CheckRepeats(const ProbeResult& probe) {
  std::map<std::string, double> earlier;
  for (const store::Measurement& record : probe.records) {
    const double us = record.latency.median_us;
    const auto [it, is_new] = earlier.emplace(graph::Fingerprint(record.subject.graph).ToHex(), us);
    if (is_new || std::max(us, it->second) <= kRepeatFactor * std::min(us, it->second)) continue;
    return absl::InvalidArgumentError(absl::StrCat("probe: one layer took ", it->second, " us and ", us,
                                                   " us: measure again when the machine is idle"));
  }
  return absl::OkStatus();
}

absl::Status CheckSpeed(const ProbeResult& probe) {
  if (probe.machine.peak_gflops <= 0) return absl::OkStatus();
  double best = -1;
  for (const store::Measurement& record : probe.records) {
    const double gflop = MacGflop(record.subject.graph);
    if (gflop < 2e-9 * kLeastMacs) continue;
    best = std::max(best, 1e6 * gflop / record.latency.median_us / probe.machine.peak_gflops);
  }
  if (best < 0 || best >= kLeastOfPeak) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("probe: its fastest layer reaches %.2g %% of the machine's %.0f GFLOPS: latency_us is in "
                      "microseconds, peak_gflops in 10^9 operations a second",
                      100 * best, probe.machine.peak_gflops));
}

// The times of a network's calls, if there are any: one for each.
absl::Status CheckProfile(const store::Measurement& record) {
  const std::vector<double>& us = record.node_latency_us;
  if (us.empty()) return absl::OkStatus();
  if (us.size() != record.subject.graph.nodes().size()) {
    return absl::InvalidArgumentError(absl::StrCat("probe: node_latency_us: ", us.size(), " numbers for ",
                                                   record.subject.graph.nodes().size(), " calls"));
  }
  for (const double each : us) {
    if (!(each >= 0))
      return absl::InvalidArgumentError(absl::StrCat("probe: node_latency_us: ", each, " is not a time"));
  }
  return absl::OkStatus();
}

}  // namespace

bool AddsUp(const std::vector<double>& node_us, double latency_us) {
  constexpr double kMostFactor = 4;
  const double ratio = std::accumulate(node_us.begin(), node_us.end(), 0.0) / latency_us;
  return ratio < kMostFactor && ratio > 1 / kMostFactor;
}

absl::Status CheckPlausible(const graph::Graph& graph, double latency_us, const TargetSpec* machine, ShownUnit unit) {
  if (graph.nodes().empty())
    return absl::InvalidArgumentError("graph: has no calls, so nothing can have been measured");
  const double gflops = machine == nullptr ? 0 : machine->peak_gflops,
               gb_per_s = machine == nullptr ? 0 : machine->memory_gb_per_s;
  const bool is_torch_gpu = machine != nullptr && machine->kind == "gpu" && IsPyTorch(*machine);
  const double above = is_torch_gpu ? kAbovePeakOfTorchGpu : kAbovePeak;
  const Work work = WorkOf(graph);
  const double least_us = std::max({kShortestUs, 1e6 * MacGflop(graph) / KnownOr(gflops, kFastestGflops) / above,
                                    1e6 * work.written_gb / KnownOr(gb_per_s, kFastestGbPerS) / kAboveMemory});
  const double expected_us = kOverheadUs * static_cast<double>(graph.nodes().size()) +
                             1e6 * work.gflop / KnownOr(gflops, kSlowestGflops) +
                             1e6 * work.moved_gb / KnownOr(gb_per_s, kSlowestGbPerS);
  const double most_us = std::min(kLongestUs, kSlowFactor * expected_us);
  if (latency_us >= least_us && latency_us <= most_us) return absl::OkStatus();
  const std::string device = machine == nullptr || machine->name.empty() ? "any device" : machine->name;
  const auto [name, of_unit] = unit == ShownUnit::kMicroseconds ? std::pair("us", 1.0) : std::pair("ms", 1e3);
  return absl::InvalidArgumentError(
      absl::StrFormat("latency_%s %.6g: a graph of %.3g MFLOP and %.3g MB cannot take that on %s; %.3g to %.3g %s can",
                      name, latency_us / of_unit, 1e3 * work.gflop, 1e3 * work.moved_gb, device, least_us / of_unit,
                      most_us / of_unit, name));
}

absl::Status CheckProbe(const ProbeResult& probe) {
  COBRA_RETURN_IF_ERROR(CheckMachine(probe.machine));
  std::map<std::string, int> layers;
  for (const store::Measurement& record : probe.records) {
    // Of a disturbed one the least is taken.
    absl::Status plausible = CheckPlausible(record.subject.graph, record.latency.median_us, &probe.machine);
    plausible.Update(CheckPlausible(record.subject.graph, record.undisturbed_us(), &probe.machine));
    if (!plausible.ok()) return absl::InvalidArgumentError(absl::StrCat("probe: ", plausible.message()));
    COBRA_RETURN_IF_ERROR(CheckProfile(record));
    if (!record.subject.is_network) ++layers[graph::Fingerprint(record.subject.graph).ToHex()];
  }
  if (layers.size() < kMinProbeLayers) {
    return absl::InvalidArgumentError(absl::StrCat(
        "probe: ", layers.size(), " different layers were measured, calibration needs at least ", kMinProbeLayers));
  }
  COBRA_RETURN_IF_ERROR(CheckRepeats(probe));
  return CheckSpeed(probe);
}

std::string DoubtAbout(double measured_us, double predicted_us, bool extrapolating) {
  const double factor = std::max(measured_us / predicted_us, predicted_us / measured_us);
  if (factor <= (extrapolating ? kDoubtUnknown : kDoubtKnown)) return "";
  return absl::StrFormat("%.4g us is %.3g times %s the predicted %.4g us", measured_us, factor,
                         measured_us > predicted_us ? "more than" : "less than", predicted_us);
}

}  // namespace cobra::predict
