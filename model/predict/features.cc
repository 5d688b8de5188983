#include "model/predict/features.h"

#include <algorithm>
#include <cmath>

#include "graph/cost.h"

namespace cobra {
namespace {

// log2(1 + x) / scale: about 1 for the largest values in use; 0 for "unknown".
float LogFeature(double x, double scale) { return static_cast<float>(std::log2(1 + std::max(0.0, x)) / scale); }

}  // namespace

std::array<float, kTargetSpecFeatures> TargetSpecFeatures(const TargetSpec& s) {
  return {s.kind == "cpu" ? 1.f : 0.f,
          s.kind == "gpu" ? 1.f : 0.f,
          LogFeature(s.peak_gflops, 16),
          LogFeature(s.memory_gb_per_s, 12),
          LogFeature(s.last_level_cache_mb, 10),
          LogFeature(s.clock_mhz, 12),
          LogFeature(s.cores, 10),
          LogFeature(s.threads, 8),
          s.precision == "float32" ? 0.f : 1.f,
          s.precision == "tf32" ? 1.f : 0.f,
          s.layout == "nhwc" ? 1.f : 0.f,
          s.compile == "eager" ? 0.f : 1.f};
}

std::array<float, kGraphFeatures> GraphFeatures(const Graph& graph) {
  const GraphCost total = CostOf(graph);
  int64_t largest_bytes = 0;
  for (const Node& node : graph.nodes()) {
    for (const TensorType& type : node.outputs) largest_bytes = std::max(largest_bytes, type.num_bytes());
  }
  const double nodes = static_cast<double>(graph.nodes().size());
  return {LogFeature(nodes, 10),
          LogFeature(static_cast<double>(total.weight_bytes), 30),
          LogFeature(static_cast<double>(total.activation_bytes), 30),
          LogFeature(static_cast<double>(total.macs), 36),
          LogFeature(static_cast<double>(largest_bytes), 30),
          static_cast<float>(GraphEdges(graph).size() / std::max(1.0, nodes) - 1)};
}

std::vector<std::array<float, kNodeFeatures>> NodeFeatures(const Graph& graph) {
  const std::vector<int64_t> fresh = FreshHeapBytes(graph);
  const MemoryPlan plan = PlanMemory(graph);
  std::vector<std::array<float, kNodeFeatures>> features;
  double live = 0;
  for (size_t k = 0; k < fresh.size(); ++k) {
    double made = 0;
    for (const int32_t s : plan.made_at[k]) made += static_cast<double>(plan.storage_bytes[s]);
    live += made;
    const double bytes = static_cast<double>(fresh[k]);
    features.push_back({LogFeature(bytes, 25), fresh[k] > 0 ? 1.f : 0.f,
                        static_cast<float>(std::min(3.0, bytes / (made + 4096))), LogFeature(live, 30)});
    for (const int32_t s : plan.dies_after[k]) live -= static_cast<double>(plan.storage_bytes[s]);
  }
  return features;
}

std::vector<std::pair<int32_t, int32_t>> GraphEdges(const Graph& graph) {
  std::vector<std::pair<int32_t, int32_t>> edges;
  for (int32_t i = 0; i < static_cast<int32_t>(graph.nodes().size()); ++i) {
    for (const ValueRef& input : graph.nodes()[i].inputs) {
      if (input.is_node()) edges.emplace_back(input.index, i);
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

int32_t MainNode(const Graph& graph) {
  for (int32_t i = static_cast<int32_t>(graph.nodes().size()) - 1; i > 0; --i) {
    if (GetOpInfo(graph.nodes()[i].op).cost_class != CostClass::kView) return i;
  }
  return 0;
}

}  // namespace cobra
