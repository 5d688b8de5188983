// The work of a network's calls that follows from the target and from the calls around them: casts
// under autocast, and what a GPU's kernels do. The rest of the work terms is the same on every
// target (LogWork).
#ifndef COBRA_MODEL_PREDICT_WORK_TARGET_WORK_H_
#define COBRA_MODEL_PREDICT_WORK_TARGET_WORK_H_

#include <array>
#include <optional>
#include <tuple>
#include <vector>

#include "graph/graph.h"
#include "model/predict/target/target.h"
#include "model/predict/work/cast_work.h"
#include "model/predict/work/features.h"
#include "model/predict/work/gpu_work.h"

namespace cobra::predict {

// What of a target decides about it; equal ones have equal work.
struct TargetWorkKind {
  bool has_casts = false;
  // Of a GPU with PyTorch: of its cache, bytes of the graph, whose tensors are float32; else 0.
  GpuWorkKind gpu;

  bool has_none() const { return !has_casts && gpu.cache_bytes == 0; }
  auto fields() const { return std::make_tuple(has_casts, gpu.fields()); }
  friend bool operator<(const TargetWorkKind& a, const TargetWorkKind& b) { return a.fields() < b.fields(); }
};
// `knows_gpu_work`: Manifest's, of the version that is asked.
TargetWorkKind TargetWorkKindOf(const TargetSpec& spec, bool knows_gpu_work);

struct TargetWork {
  CastWork casts;
  std::optional<GpuWork> gpu;
};
// One for each call.
std::vector<TargetWork> TargetWorkOf(const graph::Graph& graph, const TargetWorkKind& kind);
void SetTargetWork(const TargetWork& work, std::array<float, kWorkTerms>* log_work);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_WORK_TARGET_WORK_H_
