#include "model/predict/work/gpu_work.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "graph/cost/convolution_algorithm.h"
#include "graph/cost/cost.h"
#include "graph/saturated.h"
#include "graph/shape/layout.h"
#include "model/predict/work/attention_work.h"
#include "model/predict/work/depthwise_kernel.h"
#include "model/predict/work/fusion.h"
#include "model/predict/work/memory_traffic.h"

namespace cobra::predict {
namespace {

constexpr WorkTerm kOfProcessors[] = {kProducts,        kStalledMacs, kColumnBytes,  kCopiedBytes,
                                      kShuffledBytes,   kMappedBytes, kPlainMacs,    kPlainColumnBytes,
                                      kWeightCopyBytes, kViewBytes,   kPlainProducts};

constexpr float kLogFusedCall = -6;  // of a kernel that another call begins

// By algorithm, which other rules decide there.
constexpr WorkTerm kOfConvolutions[] = {kProductMacs, kGemmMacs, kBlockedMacs, kPointwiseMacs, kDepthwiseMacs};

void SetConvolution(const graph::Graph& graph, const graph::Layout& layout, int32_t call, const GpuWorkKind& kind,
                    GpuWork* work) {
  const graph::Node& node = graph.nodes()[static_cast<size_t>(call)];
  const std::optional<graph::Convolution> c = graph::ConvolutionOf(graph, node);
  if (!c.has_value() || c->spatial_dims > 2) return;
  if (c->groups > 1 && c->in_channels == 1) {
    const bool channels_last =
        c->spatial_dims == 2 && (layout.channels_last || layout.SuggestsChannelsLast(graph, node.inputs[0]));
    work->convolution = DepthwiseKernelOf(*c, channels_last, kind);
  } else {
    work->convolution = c->OneTap() ? kPointwiseMacs : kBlockedMacs;
  }
  work->macs = graph::CostOf(graph, call).macs;
}

// Once for the mean and the variance of all that shares them, and then to scale it.
bool ReadsTwice(const graph::Node& call) {
  using graph::Op;
  return (call.op == Op::instance_norm && call.attributes.Bool("use_input_stats", true)) ||
         (call.op == Op::batch_norm && call.attributes.Bool("training", false));
}

// Of logarithms of amounts.
float LogSum(float one, float other) {
  const float larger = std::max(one, other);
  return larger + std::log1p(std::exp(std::min(one, other) - larger));
}

void AddPlainAttention(const graph::Graph& graph, const graph::Layout& layout, int32_t node, const GpuWorkKind& kind,
                       GpuWork* work) {
  if (!IsPlainAttention(graph, layout, graph.nodes()[static_cast<size_t>(node)], kind.fuses)) return;
  const AttentionWork plain = PlainAttentionWork(graph, node, kind.has_float32_attention, kind.fuses);
  work->is_plain_attention = true;
  work->strided.copies = graph::Plus(work->strided.copies, plain.kernels);
  work->strided.copied_bytes = graph::Plus(work->strided.copied_bytes, plain.moved_bytes);
  work->plain_operations = plain.operations;
}

// What TorchInductor does in separate kernels beside a call: it adds the bias of a convolution that
// no loops read, turns weights for channels last in each run, and normalizes images whose channels
// are last in a second pass.
void AddCompiled(const graph::Graph& graph, const Fusion& fusion, int32_t node, bool turns_weights, GpuWork* work) {
  const graph::Node& call = graph.nodes()[static_cast<size_t>(node)];
  const auto add = [work](int64_t bytes) {
    ++work->fused_kernels;
    work->fused_bytes = graph::Plus(work->fused_bytes, bytes);
  };
  if (fusion.AddsBias(node)) add(graph::Times(2, call.outputs[0].num_bytes()));
  if (fusion.SumsImage(node) && call.op == graph::Op::group_norm) add(graph.TypeOf(call.inputs[0]).num_bytes());
  if (!turns_weights || call.op != graph::Op::conv2d) return;
  const graph::TensorType& weight = graph.TypeOf(call.inputs[1]);
  const graph::Shape& shape = weight.shape;
  if (shape[1] > 1 && graph::Times(shape[2], shape[3]) > 1) add(graph::Times(2, weight.num_bytes()));
}

}  // namespace

std::vector<GpuWork> GpuWorkOf(const graph::Graph& graph, const GpuWorkKind& kind) {
  const bool channels_last = kind.channels_last || (kind.fuses && CompilesChannelsLast(graph));
  const graph::Layout layout = graph::ComputeLayout(graph, channels_last);
  const MemoryOf memory_of(graph, layout);
  const std::optional<Fusion> fusion = kind.fuses ? std::make_optional<Fusion>(graph, layout, memory_of) : std::nullopt;
  const std::vector<Traffic> traffic =
      TrafficOf(graph, memory_of, kind.cache_bytes, fusion.has_value() ? &*fusion : nullptr);
  const std::vector<StridedWork> strided = StridedWorkOf(graph, layout, kind.fuses, kind.in_half);
  std::vector<GpuWork> work(graph.nodes().size());
  for (size_t i = 0; i < work.size(); ++i) {
    const auto call = static_cast<int32_t>(i);
    work[i].missed_bytes = traffic[i].missed_bytes;
    if (ReadsTwice(graph.nodes()[i])) work[i].moved_bytes = graph.TypeOf(graph.nodes()[i].inputs[0]).num_bytes();
    work[i].strided = strided[i];
    SetConvolution(graph, layout, call, kind, &work[i]);
    AddPlainAttention(graph, layout, call, kind, &work[i]);
    if (!fusion.has_value()) continue;
    work[i].fused_kernels = fusion->Launches(call) ? 1 : 0;
    work[i].fused_bytes = traffic[i].bytes;
    work[i].is_compiled = !fusion->IsOfLibrary(call);
    AddCompiled(graph, *fusion, call, channels_last && !kind.channels_last, &work[i]);
  }
  return work;
}

void SetGpuWork(const GpuWork& work, std::array<float, kWorkTerms>* log_work) {
  for (const WorkTerm term : kOfProcessors) (*log_work)[term] = kNoWork;
  if (work.is_compiled) {
    for (const WorkTerm term : {kReadBytes, kWeightBytes, kWrittenBytes}) (*log_work)[term] = kNoWork;
    if (work.fused_kernels == 0) (*log_work)[kOneCall] = kLogFusedCall;
  }
  (*log_work)[kMissedBytes] = LogAmount(work.missed_bytes);
  (*log_work)[kFusedKernels] = LogAmount(work.fused_kernels);
  (*log_work)[kFusedBytes] = LogAmount(work.fused_bytes);
  (*log_work)[kArgumentCopies] = LogAmount(work.strided.copies);
  (*log_work)[kArgumentCopyBytes] = LogAmount(work.strided.copied_bytes);
  (*log_work)[kStridedBytes] = LogAmount(work.strided.strided_bytes);
  (*log_work)[kThreadSteps] = LogAmount(work.strided.thread_steps);
  (*log_work)[kTurnedBytes] = LogAmount(work.strided.turned_bytes);
  if (work.macs > 0) {
    for (const WorkTerm term : kOfConvolutions) (*log_work)[term] = kNoWork;
    (*log_work)[work.convolution] = (*log_work)[kUnpaddedMacs] = LogAmount(work.macs);
  }
  if (work.is_plain_attention) {
    (*log_work)[kComposedKernels] = (*log_work)[kComposedBytes] = kNoWork;
    if (work.plain_operations > 0) {
      (*log_work)[kProductMacs] = (*log_work)[kUnpaddedMacs] = kNoWork;
      (*log_work)[kOperations] = LogSum((*log_work)[kOperations], LogAmount(work.plain_operations));
    }
  }
  if (work.moved_bytes == 0) return;
  (*log_work)[kComposedKernels] = LogAmount(1);
  (*log_work)[kComposedBytes] = LogAmount(work.moved_bytes);
}

}  // namespace cobra::predict
