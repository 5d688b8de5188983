#include "model/predict/price/launch_time.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "model/predict/price/known_range.h"
#include "model/predict/work/composite_work.h"
#include "model/predict/work/target_work.h"

namespace cobra::predict {
namespace {

// A target whose batches are all at least so large has never waited for its host.
constexpr int64_t kHidesLaunching = 16;

bool HidesLaunching(const TargetEntry& target) { return target.min_batch >= kHidesLaunching; }

bool IsSmaller(const graph::Graph& graph, const TargetEntry& target) {
  return static_cast<double>(BatchOf(graph)) * kRangeSlack < static_cast<double>(target.min_batch);
}

// num_batches_tracked += 1, where the graph does not say it.
bool Counts(const graph::Node& call) {
  return call.op == graph::Op::batch_norm && call.attributes.Bool("training") && !call.inputs[1].is_none();
}

}  // namespace

std::vector<double> LaunchesOf(const graph::Graph& graph, const TargetSpec& spec) {
  const TargetWorkKind kind = TargetWorkKindOf(spec, /*knows_gpu_work=*/true);
  const bool compiles = kind.gpu.fuses;
  const std::vector<TargetWork> work = TargetWorkOf(graph, kind);
  std::vector<double> launches;
  for (size_t i = 0; i < work.size(); ++i) {
    const graph::Node& call = graph.nodes()[i];
    const bool is_view = graph::GetOpInfo(call.op).cost_class == graph::CostClass::kView;
    int64_t kernels = Counts(call);
    if (const auto& gpu = work[i].gpu; gpu.has_value() && compiles) {
      kernels += gpu->fused_kernels + (gpu->is_compiled || is_view ? 0 : 1);
    } else {
      const auto composed = CompositeWorkOf(graph, call);
      kernels += (is_view ? 0 : composed.has_value() ? composed->kernels : 1) + work[i].casts.casts;
      if (gpu.has_value()) kernels += gpu->strided.copies;
    }
    launches.push_back(static_cast<double>(kernels));
  }
  return launches;
}

LaunchTime::LaunchTime(const graph::Graph& graph, const TargetSpec& spec, const TargetEntry& target, bool knows_host) {
  if (spec.kind != "gpu" || RuntimeFamily(spec) != "torch") return;
  waits_ = RuntimeFamily(target.spec) == "libtorch" || (HidesLaunching(target) && !knows_host);
  if (!waits_ && !(HidesLaunching(target) && IsSmaller(graph, target))) return;
  launches_ = LaunchesOf(graph, spec);
  host_us_ = spec.compile == "eager" ? kHostUs : kHostOfCompiledUs;
  total_us_ = host_us_ * std::accumulate(launches_.begin(), launches_.end(), 0.0);
}

std::vector<double> LaunchTime::WaitingUs(const std::vector<double>& log_us) const {
  std::vector<double> waiting_us(log_us.size());
  if (total_us_ == 0 || !waits_) return waiting_us;
  double busy_us = 0;
  for (const double log : log_us) busy_us += std::exp(log);
  const double share = std::max(0.0, 1 - busy_us / total_us_);
  for (size_t call = 0; call < log_us.size(); ++call) waiting_us[call] = share * host_us_ * launches_[call];
  return waiting_us;
}

double LaunchTime::HalfWidth(double latency_us) const {
  return total_us_ == 0 ? 0 : std::max(0.0, std::log(total_us_ * kHostsDiffer / latency_us));
}

}  // namespace cobra::predict
