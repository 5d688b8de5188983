#include "lab/published/regressions/roofline.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "graph/cost/cost.h"
#include "model/predict/target/operator_group.h"

namespace cobra::lab {
namespace {

enum Kind {
  kDense,
  kPointwise,
  kGrouped,
  kLinear,
  kBatchedProduct,
  kBatchNorm,
  kOtherNorm,
  kPool,
  kActivation,
  kArithmetic,
  kSoftmax,
  kCopy,
  kRest,
  kNumKinds
};
constexpr size_t kNumbers = 4;  // of a kind

bool IsActivation(absl::string_view name) {
  for (absl::string_view part : {"relu", "gelu", "silu", "sigmoid", "tanh", "hardswish", "elu", "mish"}) {
    if (absl::StrContains(name, part)) return true;
  }
  return false;
}

bool IsArithmetic(absl::string_view name) { return name == "add" || name == "sub" || name == "mul" || name == "div"; }

Kind KindOf(const graph::Graph& graph, const graph::Node& node) {
  const absl::string_view name = graph::OpName(node.op);
  switch (predict::OperatorGroupOf(graph, node)) {
    case predict::kConvDense: return kDense;
    case predict::kConvPointwise: return kPointwise;
    case predict::kConvGrouped: return kGrouped;
    case predict::kProduct: return name == "linear" ? kLinear : kBatchedProduct;
    case predict::kNorm: return name == "batch_norm" ? kBatchNorm : kOtherNorm;
    case predict::kPool: return kPool;
    default: break;
  }
  if (IsActivation(name)) return kActivation;
  if (IsArithmetic(name)) return kArithmetic;
  if (absl::StrContains(name, "softmax")) return kSoftmax;
  return name == "cat" || name == "clone" || name == "contiguous" || name == "roll" ? kCopy : kRest;
}

// The node whose kernel a call joins: the maker of its first input that is read by this call alone;
// -1: its own kernel.
int32_t Joins(const graph::Graph& graph, int32_t node, const std::vector<int>& readers) {
  const graph::Node& call = graph.nodes()[static_cast<size_t>(node)];
  const Kind kind = KindOf(graph, call);
  if (kind != kBatchNorm && kind != kActivation && kind != kArithmetic) return -1;
  for (const graph::ValueRef& input : call.inputs) {
    if (!input.is_node() || readers[static_cast<size_t>(input.index)] != 1) continue;
    if (!IsView(graph.nodes()[static_cast<size_t>(input.index)])) return input.index;
  }
  return -1;
}

std::vector<double> Features(const graph::Graph& graph, bool fused) {
  const size_t calls = graph.nodes().size();
  std::vector<int> readers(calls);
  for (const graph::Node& node : graph.nodes()) {
    for (const graph::ValueRef& input : node.inputs) {
      if (input.is_node()) ++readers[static_cast<size_t>(input.index)];
    }
  }
  const std::vector<graph::NodeCost> costs = graph::NodeCosts(graph);
  std::vector<double> features(kNumKinds * kNumbers);
  std::vector<Kind> kernel(calls, kRest);  // the kind of the kernel that a call is in
  for (size_t i = 0; i < calls; ++i) {
    const graph::Node& node = graph.nodes()[i];
    if (IsView(node)) continue;
    const int32_t joins = fused ? Joins(graph, static_cast<int32_t>(i), readers) : -1;
    kernel[i] = joins < 0 ? KindOf(graph, node) : kernel[static_cast<size_t>(joins)];
    double* const of_kind = &features[kernel[i] * kNumbers];
    double activation_bytes = static_cast<double>(costs[i].input_bytes + costs[i].output_bytes);
    if (joins >= 0) {
      // What the kernel made stays in registers; what it writes at the end is as large.
      const double made = static_cast<double>(costs[static_cast<size_t>(joins)].output_bytes);
      activation_bytes = std::max(0.0, activation_bytes - made - static_cast<double>(costs[i].output_bytes));
    } else {
      of_kind[0] += 1;
      of_kind[1] += static_cast<double>(costs[i].macs) / 1e6;
    }
    of_kind[2] += activation_bytes / 1e6;
    of_kind[3] += static_cast<double>(costs[i].weight_bytes) / 1e6;
  }
  return features;
}

}  // namespace

std::vector<double> RooflineFeatures(const graph::Graph& network) { return Features(network, /*fused=*/false); }
std::vector<double> FusedRooflineFeatures(const graph::Graph& network) { return Features(network, /*fused=*/true); }

double SheetRooflineUs(const graph::Graph& network, double peak_gflops, double memory_gb_per_s) {
  double sum_us = 0;
  const std::vector<graph::NodeCost> costs = graph::NodeCosts(network);
  for (size_t i = 0; i < costs.size(); ++i) {
    if (IsView(network.nodes()[i])) continue;
    const graph::NodeCost& cost = costs[i];
    const double operations = cost.macs > 0 ? 2.0 * static_cast<double>(cost.macs) : static_cast<double>(cost.flops);
    const auto bytes = static_cast<double>(cost.input_bytes + cost.output_bytes + cost.weight_bytes);
    sum_us += std::max(operations / peak_gflops, bytes / memory_gb_per_s) / 1e3;
  }
  return std::max(sum_us, 1e-3);
}

std::vector<double> FitRelativeNonNegative(const FeatureRows& train, const std::vector<double>& latency,
                                           const FeatureRows& all) {
  constexpr int kSweeps = 3000;
  const size_t n = train.empty() ? 0 : train[0].size();
  std::vector<std::vector<double>> a(n, std::vector<double>(n));
  std::vector<double> b(n), w(n), ax(n);
  for (size_t r = 0; r < train.size(); ++r) {
    for (size_t i = 0; i < n; ++i) {
      const double scaled = train[r][i] / latency[r];
      if (scaled == 0) continue;
      b[i] += scaled;
      for (size_t j = 0; j < n; ++j) a[i][j] += scaled * train[r][j] / latency[r];
    }
  }
  // Coordinate descent: each weight in turn is the best one that is not negative.
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (size_t i = 0; i < n; ++i) {
      if (a[i][i] <= 0) continue;
      const double next = std::max(0.0, w[i] + (b[i] - ax[i]) / a[i][i]), change = next - w[i];
      if (change == 0) continue;
      w[i] = next;
      for (size_t j = 0; j < n; ++j) ax[j] += change * a[j][i];
    }
  }
  const double least = latency.empty() ? 1 : *std::min_element(latency.begin(), latency.end());
  std::vector<double> predicted;
  for (const std::vector<double>& row : all) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += w[i] * row[i];
    predicted.push_back(std::max(sum, 0.1 * least));
  }
  return predicted;
}

}  // namespace cobra::lab
