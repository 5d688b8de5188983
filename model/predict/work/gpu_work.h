// What PyTorch's kernels on a GPU do for a call, if it is not what a processor's libraries do
// (model/predict/work/call_work.h), and what follows from the calls around it.
#ifndef COBRA_MODEL_PREDICT_WORK_GPU_WORK_H_
#define COBRA_MODEL_PREDICT_WORK_GPU_WORK_H_

#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "graph/graph.h"
#include "model/predict/work/features.h"
#include "model/predict/work/strided_work.h"

namespace cobra::predict {

struct GpuWork {
  int64_t missed_bytes = 0;                    // that its last cache does not hold (memory_traffic.h)
  int64_t fused_kernels = 0, fused_bytes = 0;  // that are left where a compiler fuses (fusion.h); else 0
  // A compiler makes loops of the call: it is not a kernel unless one begins with it, and moves
  // fused_bytes alone.
  bool is_compiled = false;
  // Of one kernel more, of a normalization with the statistics of its input: what it reads once
  // more.
  int64_t moved_bytes = 0;
  // Of a convolution of one or two dimensions: depthwise (depthwise_kernel.h), of one
  // tap, or any other (kBlockedMacs).
  WorkTerm convolution = kBlockedMacs;
  int64_t macs = 0;
  StridedWork strided;
  // An attention without a fused kernel (attention_work.h): its kernels move what copies move, and
  // are counted among them. Where it computes in float32, no tensor core does its
  // multiply-accumulates.
  bool is_plain_attention = false;
  int64_t plain_operations = 0;
};

// What decides about it.
struct GpuWorkKind {
  double cache_bytes = 0;              // of its last cache
  bool fuses = false;                  // compiled (torch.compile)
  bool in_half = false;                // products and convolutions
  bool in_float16 = false;             // likewise, not in bfloat16
  bool channels_last = false;          // the network's arguments and weights
  bool has_float32_attention = false;  // attention without a fused kernel computes so in half precision, too
  // More elements than 32 bits count: cuDNN takes depthwise convolutions with them, unless the
  // channels are last.
  bool has_large_in_cudnn = false;

  auto fields() const {
    return std::make_tuple(cache_bytes, fuses, in_half, in_float16, channels_last, has_float32_attention,
                           has_large_in_cudnn);
  }
};

// One for each call. REQUIRES: kind.cache_bytes > 0.
std::vector<GpuWork> GpuWorkOf(const graph::Graph& graph, const GpuWorkKind& kind);

// Instead of what a processor's libraries do: there are no blocks of channels, no patches laid out,
// no memory from malloc; a group of channels is not a separate product, and a view moves nothing.
void SetGpuWork(const GpuWork& work, std::array<float, kWorkTerms>* log_work);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_WORK_GPU_WORK_H_
