#include "model/predict/work/features.h"

#include <algorithm>
#include <cmath>

#include "graph/cost/cost.h"
#include "graph/saturated.h"
#include "model/predict/target/device_table.h"
#include "model/predict/target/sheet_comparison.h"
#include "model/predict/work/call_work.h"
#include "model/predict/work/composite_work.h"

namespace cobra::predict {
namespace {

// log2(1 + x) / scale: about 1 for the largest values in use; 0 for "unknown".
float LogFeature(double x, double scale) { return static_cast<float>(std::log2(1 + std::max(0.0, x)) / scale); }

WorkTerm MacTerm(graph::ConvolutionAlgorithm algorithm) {
  using Algorithm = graph::ConvolutionAlgorithm;
  switch (algorithm) {
    case Algorithm::kProduct: return kProductMacs;
    case Algorithm::kGemm: return kGemmMacs;
    case Algorithm::kBlocked: return kBlockedMacs;
    case Algorithm::kPointwise: return kPointwiseMacs;
    case Algorithm::kDepthwise: return kDepthwiseMacs;
  }
  return kProductMacs;
}

}  // namespace

float LogAmount(int64_t amount) { return amount > 0 ? std::log(static_cast<float>(amount)) : kNoWork; }

float LogPowerLimit(const TargetSpec& s) {
  if (s.kind != "gpu" || !(s.board_power_w > 0 && s.peak_gflops > 0)) return 0;
  // Watts for 1 TFLOPS, per nanometre. A multiply-accumulate in matrix units takes less.
  constexpr double kFloat32 = 1.45, kTf32 = 0.3, kHalf = 0.15, kLeastLog = -3;
  const double nm = s.process_nm > 0 ? s.process_nm : ProcessNm(s.device);
  if (!(nm > 0)) return 0;
  const double of_precision = ComputesInHalf(s) ? kHalf : s.precision == "tf32" ? kTf32 : kFloat32;
  const double needed_w = nm * of_precision * s.peak_gflops / 1000;
  return static_cast<float>(std::clamp(std::log2(s.board_power_w / needed_w), kLeastLog, 0.0));
}

std::array<float, kTargetSpecFeatures> TargetSpecFeatures(const TargetSpec& s) {
  const auto is = [family = RuntimeFamily(s)](absl::string_view name) { return family == name ? 1.f : 0.f; };
  return {s.kind == "cpu" ? 1.f : 0.f, s.kind == "gpu" ? 1.f : 0.f, LogFeature(s.peak_gflops, kGflopsScale),
          LogFeature(s.memory_gb_per_s, kGbPerSScale), LogFeature(s.last_level_cache_mb, 10),
          LogFeature(s.clock_mhz, 12), LogFeature(s.cores, 10),
          LogFeature(s.kind == "gpu" ? 1 : s.threads, 8),  // those of the host do not count
          s.precision == "float32" ? 0.f : 1.f, s.precision == "tf32" ? 1.f : 0.f, s.layout == "nhwc" ? 1.f : 0.f,
          s.compile == "eager" ? 0.f : 1.f, is("libtorch"), is("torch"), is("onnxruntime"), is("openvino"), is("ncnn"),
          LogFeature(s.vector_bits, 10), LogFeature(1024 * s.l2_cache_mb, 12),
          LogFeature(s.convolution_gflops, kGflopsScale), LogFeature(s.pointwise_gflops, kGflopsScale),
          LogFeature(s.depthwise_gflops, kGflopsScale), LogFeature(s.l2_gb_per_s, kGbPerSScale),
          LogFeature(s.l3_gb_per_s, kGbPerSScale), LogFeature(100 * s.page_fault_us, 10),
          // Again for GPUs alone: across these a price follows the data sheet, other than across
          // processors.
          s.kind == "gpu" ? LogFeature(s.peak_gflops, kGflopsScale) : 0.f,
          s.kind == "gpu" ? LogFeature(s.memory_gb_per_s, kGbPerSScale) : 0.f,
          s.kind == "gpu" ? LogFeature(s.convolution_gflops, kGflopsScale) : 0.f,
          s.kind == "gpu" ? LogFeature(s.depthwise_gflops, kGflopsScale) : 0.f,
          s.kind == "gpu" ? LogFeature(s.last_level_cache_mb, 10) : 0.f, HasCasts(s) ? 1.f : 0.f,
          s.precision == "tf32-convolutions" ? 1.f : 0.f, s.precision == "int8" ? 1.f : 0.f,
          // Watts per TFLOPS: with 2 of them a GPU reaches 40 % of its peak in long products, with
          // 20 of them 90 %.
          s.kind == "gpu" && s.peak_gflops > 0 ? LogFeature(1000 * s.board_power_w / s.peak_gflops, 5) : 0.f,
          // Other kernels and other libraries (ROCm).
          s.kind == "gpu" && IsAmd(s) ? 1.f : 0.f, LogPowerLimit(s)};
}

std::array<float, kGraphFeatures> GraphFeatures(const graph::Graph& graph) {
  return GraphFeatures(graph, graph::CostOf(graph), GraphEdges(graph).size());
}

std::array<float, kGraphFeatures> GraphFeatures(const graph::Graph& graph, const graph::GraphCost& total,
                                                size_t num_edges) {
  int64_t largest_bytes = 0;
  for (const graph::Node& node : graph.nodes()) {
    for (const graph::TensorType& type : node.outputs) largest_bytes = std::max(largest_bytes, type.num_bytes());
  }
  const double nodes = static_cast<double>(graph.nodes().size());
  return {LogFeature(nodes, 10),
          LogFeature(static_cast<double>(total.weight_bytes), 30),
          LogFeature(static_cast<double>(total.activation_bytes), 30),
          LogFeature(static_cast<double>(total.macs), 36),
          LogFeature(static_cast<double>(largest_bytes), 30),
          static_cast<float>(static_cast<double>(num_edges) / std::max(1.0, nodes) - 1)};
}

std::array<float, kWorkTerms> LogWork(const graph::Graph& graph, int32_t node) {
  const graph::Node& call = graph.nodes()[static_cast<size_t>(node)];
  const graph::NodeCost cost = graph::CostOf(graph, node);
  std::array<int64_t, kWorkTerms> amounts{};
  amounts[kOneCall] = 1;
  amounts[kOperations] = cost.macs > 0 ? 0 : cost.flops;
  amounts[kReadBytes] = cost.input_bytes;
  amounts[kWeightBytes] = cost.weight_bytes;
  amounts[kWrittenBytes] = cost.output_bytes;
  amounts[kMappedBytes] = graph::Plus(MappedBytes(call), MappedByConversions(graph, call));
  amounts[kViewBytes] = ViewBytes(graph, call);
  if (const auto work = ConvolutionWorkOf(graph, call)) {
    amounts[kUnpaddedMacs] = work->unpadded_macs;
    amounts[MacTerm(work->algorithm)] = work->executed_macs;
    amounts[kStalledMacs] = work->stalled_macs;
    amounts[kColumnBytes] = work->column_bytes;
    amounts[kCopiedBytes] = work->copied_bytes;
    amounts[kShuffledBytes] = work->shuffled_bytes;
    amounts[kWeightCopyBytes] = work->weight_copy_bytes;
    amounts[kMappedBytes] += work->mapped_bytes;
    amounts[kProducts] = work->products;
    amounts[kWinogradMacs] = work->winograd_macs;
    amounts[kWinogradBytes] = work->winograd_bytes;
    amounts[kPlainMacs] = work->plain_macs;
    amounts[kPlainColumnBytes] = work->plain_column_bytes;
    amounts[kPlainProducts] = work->plain_products;
  } else {
    // A convolution without a rule is transposed, or has three dimensions: a product over patches.
    amounts[kUnpaddedMacs] = amounts[IsConvolution(call) ? kGemmMacs : kProductMacs] = cost.macs;
    amounts[kProducts] = cost.macs > 0 ? 1 : 0;
  }
  if (const auto work = ProductWorkOf(graph, call)) {
    amounts[kProducts] = work->products;
    amounts[kCopiedBytes] = work->expanded_bytes;
    amounts[kMappedBytes] += work->mapped_bytes;
  }
  if (const auto work = CompositeWorkOf(graph, call)) {
    amounts[kComposedKernels] = work->kernels - 1;
    amounts[kComposedBytes] = work->moved_bytes;
    amounts[kOperations] = graph::Plus(amounts[kOperations], work->operations);
  }
  std::array<float, kWorkTerms> logs;
  std::transform(amounts.begin(), amounts.end(), logs.begin(), LogAmount);
  return logs;
}

// In the order of their sources, then of their destinations.
std::vector<std::pair<int32_t, int32_t>> GraphEdges(const graph::Graph& graph) {
  const auto nodes = graph.nodes();
  std::vector<size_t> next(nodes.size() + 1);  // where the next edge from each source goes
  for (const graph::Node& node : nodes) {
    for (const graph::ValueRef& input : node.inputs) {
      if (input.is_node()) ++next[static_cast<size_t>(input.index) + 1];
    }
  }
  for (size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  std::vector<std::pair<int32_t, int32_t>> edges(next.back());
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const graph::ValueRef& input : nodes[i].inputs) {
      if (input.is_node()) edges[next[static_cast<size_t>(input.index)]++] = {input.index, static_cast<int32_t>(i)};
    }
  }
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

int32_t MainNode(const graph::Graph& graph) {
  for (int32_t i = static_cast<int32_t>(graph.nodes().size()) - 1; i > 0; --i) {
    if (graph::GetOpInfo(graph.nodes()[i].op).cost_class != graph::CostClass::kView) return i;
  }
  return 0;
}

}  // namespace cobra::predict
