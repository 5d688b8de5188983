#include "model/predict/target_work.h"

#include <cstddef>
#include <optional>

#include "model/predict/fusion.h"
#include "model/predict/memory_traffic.h"

namespace cobra::predict {

TargetWorkKind TargetWorkKindOf(const TargetSpec& spec) {
  constexpr double kMegabyte = 1 << 20, kUnknownMb = 4;  // as small as any in use
  TargetWorkKind kind;
  kind.has_casts = HasCasts(spec);
  if (spec.kind == "gpu" && IsPyTorch(spec)) {
    const bool is_half = spec.precision == "float16" || spec.precision == "bfloat16" || HasCasts(spec);
    const double cache_mb = spec.last_level_cache_mb > 0 ? spec.last_level_cache_mb : kUnknownMb;
    kind.fuses = spec.compile != "eager";
    kind.cache_bytes = cache_mb * kMegabyte * (is_half ? 2 : 1);
  }
  return kind;
}

std::vector<TargetWork> TargetWorkOf(const graph::Graph& graph, const TargetWorkKind& kind) {
  std::vector<TargetWork> work(graph.nodes().size());
  if (kind.has_casts) {
    const std::vector<CastWork> casts = CastWorkOf(graph);
    for (size_t call = 0; call < work.size(); ++call) work[call].casts = casts[call];
  }
  if (kind.cache_bytes > 0) {
    const std::optional<Fusion> fusion = kind.fuses ? std::make_optional<Fusion>(graph) : std::nullopt;
    const std::vector<Traffic> traffic = TrafficOf(graph, kind.cache_bytes, fusion.has_value() ? &*fusion : nullptr);
    for (size_t call = 0; call < work.size(); ++call) {
      work[call].missed_bytes = traffic[call].missed_bytes;
      if (!fusion.has_value()) continue;
      work[call].fused_kernels = fusion->Launches(static_cast<int32_t>(call));
      work[call].fused_bytes = traffic[call].bytes;
    }
  }
  return work;
}

void SetTargetWork(const TargetWork& work, std::array<float, kWorkTerms>* log_work) {
  (*log_work)[kWideBytes] = LogAmount(work.casts.wide_bytes);
  (*log_work)[kCasts] = LogAmount(work.casts.casts);
  (*log_work)[kCastBytes] = LogAmount(work.casts.cast_bytes);
  (*log_work)[kMissedBytes] = LogAmount(work.missed_bytes);
  (*log_work)[kFusedKernels] = LogAmount(work.fused_kernels);
  (*log_work)[kFusedBytes] = LogAmount(work.fused_bytes);
}

}  // namespace cobra::predict
