#include "model/predict/target_work.h"

#include <cstddef>

namespace cobra::predict {

TargetWorkKind TargetWorkKindOf(const TargetSpec& spec, bool knows_gpu_work) {
  constexpr double kMegabyte = 1 << 20, kUnknownMb = 4;  // as small as any in use
  TargetWorkKind kind;
  kind.has_casts = HasCasts(spec);
  if (knows_gpu_work && spec.kind == "gpu" && IsPyTorch(spec)) {
    const double cache_mb = spec.last_level_cache_mb > 0 ? spec.last_level_cache_mb : kUnknownMb;
    kind.gpu.fuses = spec.compile != "eager";
    kind.gpu.cache_bytes = cache_mb * kMegabyte * (ComputesInHalf(spec) ? 2 : 1);
    kind.gpu.in_half = ComputesInHalf(spec);
    kind.gpu.in_float16 = kind.gpu.in_half && spec.precision != "bfloat16";
    kind.gpu.channels_last = spec.layout == "nhwc";
  }
  return kind;
}

std::vector<TargetWork> TargetWorkOf(const graph::Graph& graph, const TargetWorkKind& kind) {
  std::vector<TargetWork> work(graph.nodes().size());
  if (kind.has_casts) {
    const std::vector<CastWork> casts = CastWorkOf(graph);
    for (size_t call = 0; call < work.size(); ++call) work[call].casts = casts[call];
  }
  if (kind.gpu.cache_bytes > 0) {
    const std::vector<GpuWork> on_gpu = GpuWorkOf(graph, kind.gpu);
    for (size_t call = 0; call < work.size(); ++call) work[call].gpu = on_gpu[call];
  }
  return work;
}

void SetTargetWork(const TargetWork& work, std::array<float, kWorkTerms>* log_work) {
  (*log_work)[kWideBytes] = LogAmount(work.casts.wide_bytes);
  (*log_work)[kCasts] = LogAmount(work.casts.casts);
  (*log_work)[kCastBytes] = LogAmount(work.casts.cast_bytes);
  if (work.gpu.has_value()) SetGpuWork(*work.gpu, log_work);
}

}  // namespace cobra::predict
