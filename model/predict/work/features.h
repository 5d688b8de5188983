// Inputs of the networks besides the layer texts: the target's published specification, a network's
// totals, and the amounts of work of a call (WorkTerm).
#ifndef COBRA_MODEL_PREDICT_WORK_FEATURES_H_
#define COBRA_MODEL_PREDICT_WORK_FEATURES_H_

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "graph/cost/cost.h"
#include "graph/graph.h"
#include "model/predict/target/target.h"

namespace cobra::predict {

// New ones are appended (model/predict/weights/later_inputs.h).
inline constexpr int kTargetSpecFeatures = 36, kFewestTargetSpecFeatures = 34;
// Places of some of them (LogFeature: log2(1 + x) / the scale).
inline constexpr int kIsGpu = 1, kIsCompiled = 11, kGpuPeak = 25, kGpuBandwidth = 26, kGpuConvolutions = 27,
                     kGpuVector = 28, kGpuPowerLimit = 35;
inline constexpr double kGflopsScale = 16, kGbPerSScale = 12;
std::array<float, kTargetSpecFeatures> TargetSpecFeatures(const TargetSpec& spec);

// The logarithm (base 2) of how much of its peak in long products a GPU has the power for: 0 where
// the board's limit does not limit it, or is unknown. What an operation takes grows with the
// process: in float32 V100, A100 and P100 have the watts, and T4, P4 and L4, with a half to a third
// of them, reach .43, .44 to .75 and .2 to .4 of their peak.
float LogPowerLimit(const TargetSpec& spec);

// Totals determine what stays in the cache between two calls of a layer: its weights do if all
// weights fit.
inline constexpr int kGraphFeatures = 6;
std::array<float, kGraphFeatures> GraphFeatures(const graph::Graph& graph);
// With what is known already: CostOf(graph), and the number of GraphEdges(graph).
std::array<float, kGraphFeatures> GraphFeatures(const graph::Graph& graph, const graph::GraphCost& total,
                                                size_t num_edges);

// The work of a call, as natural logarithms of amounts; kNoWork for an amount of 0. The layer head
// predicts a price for each (PriceHead, model/net/layer_head.h).
enum WorkTerm {
  kOneCall,
  kProducts,      // of matrices
  kOperations,    // that are not multiply-accumulates
  kUnpaddedMacs,  // not on padding
  kProductMacs,   // of matrix products; the following terms: of convolutions, by algorithm (call_work.h)
  kGemmMacs,
  kBlockedMacs,
  kStalledMacs,
  kPointwiseMacs,
  kDepthwiseMacs,
  kReadBytes,
  kWeightBytes,
  kWrittenBytes,
  kColumnBytes,  // patches laid out as a matrix
  kCopiedBytes,  // into blocks of channels and back; likewise the following two
  kShuffledBytes,
  kWeightCopyBytes,
  kMappedBytes,  // written to memory that malloc maps anew, copies included
  kWinogradMacs,
  kWinogradBytes,  // of transformed tiles
  kPlainMacs,      // of convolutions whose channels do not fit ONNX Runtime's blocks; likewise the following two
  kPlainColumnBytes,
  kPlainProducts,
  kViewBytes,          // of results that share memory with an argument in PyTorch; other runtimes copy some of them
  kComposedKernels,    // of a call that PyTorch composes of several (composite_work.h), beyond the first
  kComposedBytes,      // that these move between them; a compiler fuses some
  kWideBytes,          // of tensors that stay in float32 where products compute in half; likewise the following two
  kCasts,              // kernels between the two (model/predict/work/cast_work.h)
  kCastBytes,          // that these read and write
  kMissedBytes,        // of those read and written, that a GPU's cache does not hold (memory_traffic.h)
  kFusedKernels,       // that are left where a compiler makes one of several (model/predict/work/fusion.h)
  kFusedBytes,         // that these read and write
  kArgumentCopies,     // kernels that copy for the sake of the order in memory (model/predict/work/strided_work.h)
  kArgumentCopyBytes,  // that these read and write
  kStridedBytes,       // that neighbouring threads of a GPU find apart
  kThreadSteps,        // of a GPU's kernel with few threads, one after the other
  kTurnedBytes,        // of images for convolutions in half precision, which want the channels last
  kOwnDepthwiseMacs,   // of a GPU, by PyTorch's own kernel (model/predict/work/depthwise_kernel.h); by cuDNN's:
  kLastDepthwiseMacs,  // with the channels last
  kWideDepthwiseMacs,  // likewise, of a wide window
  kWorkTerms
};
// Terms are appended, too.
inline constexpr int kFewestWorkTerms = 26;
// Those that tell apart what was one kind before: a version that has not learned them prices them
// as that.
constexpr WorkTerm WasOneWith(WorkTerm term) {
  return term == kOwnDepthwiseMacs || term == kLastDepthwiseMacs || term == kWideDepthwiseMacs ? kDepthwiseMacs : term;
}
inline constexpr float kNoWork = -30;
// The logarithm of the microseconds of a thread's step, in which four reads wait for memory at
// once: 0.4, the latency of a GPU's memory. The networks of public/timm that have such steps say
// 0.33 to 0.38 on three GPUs.
inline constexpr double kLogThreadStep = -0.916;
// Without what depends on the target and on other calls (model/predict/work/target_work.h).
std::array<float, kWorkTerms> LogWork(const graph::Graph& graph, int32_t node);
float LogAmount(int64_t amount);

// Data flow between nodes, one entry per (source, destination) pair.
std::vector<std::pair<int32_t, int32_t>> GraphEdges(const graph::Graph& graph);

// The main node of a layer graph, which takes the time: the last one that is not a view.
int32_t MainNode(const graph::Graph& graph);
inline graph::Op MainOperator(const graph::Graph& graph) {
  return graph.nodes()[static_cast<size_t>(MainNode(graph))].op;
}

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_WORK_FEATURES_H_
