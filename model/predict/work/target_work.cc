#include "model/predict/work/target_work.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace cobra::predict {
namespace {

// Of a version like 2.13; one that cannot be read is a new one.
bool IsSince(absl::string_view version, int major, int minor) {
  const std::vector<absl::string_view> parts = absl::StrSplit(version, '.');
  int of_major = 0, of_minor = 0;
  if (parts.size() < 2 || !absl::SimpleAtoi(parts[0], &of_major) || !absl::SimpleAtoi(parts[1], &of_minor)) return true;
  return std::pair(of_major, of_minor) >= std::pair(major, minor);
}

}  // namespace

TargetWorkKind TargetWorkKindOf(const TargetSpec& spec, bool knows_gpu_work) {
  constexpr double kMegabyte = 1 << 20, kUnknownMb = 4;  // as small as any in use
  TargetWorkKind kind;
  kind.has_casts = HasCasts(spec);
  if (knows_gpu_work && spec.kind == "gpu" && IsPyTorch(spec)) {
    const double cache_mb = spec.last_level_cache_mb > 0 ? spec.last_level_cache_mb : kUnknownMb;
    kind.gpu.fuses = spec.compile != "eager";
    kind.gpu.in_half = ComputesInHalf(spec);
    kind.gpu.cache_bytes = cache_mb * kMegabyte * (kind.gpu.in_half ? 2 : 1);
    kind.gpu.in_float16 = kind.gpu.in_half && spec.precision != "bfloat16";
    kind.gpu.channels_last = spec.layout == "nhwc";
    kind.gpu.has_float32_attention = kind.gpu.in_half && IsSince(RuntimeVersion(spec), 2, 5);
    kind.gpu.has_large_in_cudnn = IsSince(RuntimeVersion(spec), 2, 9);
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
