#include "model/predict/price/product_time.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "absl/strings/match.h"
#include "graph/cost/cost.h"
#include "model/predict/target/sheet_comparison.h"

namespace cobra::predict {
namespace {

using graph::Op;

constexpr double kLaunchUs = 25, kMostOfCompute = 5, kMostOfMemory = 1.5;
constexpr double kLeastOfTaps = 0.45;  // of a convolution's multiply-accumulates, if it has several taps
constexpr int64_t kTile = 128, kDepth = 32;

bool IsPlainConvolution(Op op) { return op == Op::conv1d || op == Op::conv2d || op == Op::conv3d; }

// Batches of [rows, depth] x [depth, columns].
struct Matrices {
  double batch = 0, rows = 0, columns = 0, depth = 0;  // batch 0: no product
  double flops() const { return 2 * batch * rows * columns * depth; }
};

Matrices MatricesOf(const graph::Graph& graph, const graph::Node& call) {
  size_t left = 0, right = 1;
  switch (call.op) {
    case Op::linear:
    case Op::matmul:
    case Op::mm:
    case Op::bmm: break;
    case Op::addmm:
    case Op::baddbmm: left = 1, right = 2; break;
    default: return {};
  }
  const auto& a = graph.TypeOf(call.inputs[left]).shape;
  const auto& b = graph.TypeOf(call.inputs[right]).shape;
  if (a.empty() || b.size() < 2 || call.outputs.empty() || a.back() <= 0) return {};
  const bool is_linear = call.op == Op::linear;
  Matrices product;
  product.depth = static_cast<double>(a.back());
  product.columns = static_cast<double>(is_linear ? b[0] : b.back());
  double outputs = 1, batch = 1;
  for (const int64_t extent : call.outputs[0].shape) outputs *= static_cast<double>(extent);
  for (size_t i = 0; !is_linear && i + 2 < b.size(); ++i) batch *= static_cast<double>(b[i]);
  if (outputs <= 0 || batch <= 0 || product.columns <= 0) return {};
  // Few matrices on the right for many rows on the left are broadcast: counted as rows.
  product.batch = batch;
  product.rows = std::max(1.0, outputs / product.columns / batch);
  return product;
}

double InTiles(double extent, int64_t tile) { return std::ceil(extent / static_cast<double>(tile)); }

}  // namespace

ProductTime::ProductTime(const TargetSpec& spec, const graph::Graph& graph) : graph_(graph) {
  is_known_ = spec.kind == "gpu" && IsPyTorch(spec) && spec.peak_gflops > 0 && spec.memory_gb_per_s > 0 &&
              spec.precision != "int8";
  if (!is_known_) return;
  bytes_per_us_ = 1e3 * spec.memory_gb_per_s;
  // The sheets of AMD's GPUs give the vector units' peak in float32; their matrix units do twice
  // that.
  flops_per_us_ = 1e3 * spec.peak_gflops * (IsAmd(spec) && !ComputesInHalf(spec) ? 2 : 1);
  convolution_flops_per_us_ = std::max(flops_per_us_, 1e3 * spec.convolution_gflops);
  cores_ = std::max(1.0, spec.cores);
  if (ComputesInHalf(spec)) bytes_of_byte_ = bytes_at_most_ = 0.5;
  if (HasCasts(spec)) bytes_at_most_ = 2;
  first_use_.assign(graph.parameters().size(), -1);
  double all_weights = 0;
  for (size_t call = 0; call < graph.nodes().size(); ++call) {
    const graph::Node& node = graph.nodes()[call];
    if (!IsPlainConvolution(node.op) && MatricesOf(graph, node).batch == 0) continue;
    for (const graph::ValueRef& input : node.inputs) {
      if (input.kind != graph::ValueRef::Kind::kParameter) continue;
      int32_t& first_use = first_use_[static_cast<size_t>(input.index)];
      if (first_use >= 0) continue;
      first_use = static_cast<int32_t>(call);
      all_weights += bytes_of_byte_ * static_cast<double>(graph.TypeOf(input).num_bytes());
    }
  }
  if (all_weights > 0) missed_of_weights_ = std::max(0.0, 1 - 1e6 * spec.last_level_cache_mb / all_weights);
}

double ProductTime::LeastUs(int32_t call) const {
  if (!is_known_) return 0;
  const graph::Node& node = graph_.nodes()[static_cast<size_t>(call)];
  const Matrices product = MatricesOf(graph_, node);
  double flops = product.flops(), per_us = flops_per_us_;
  if (IsPlainConvolution(node.op)) {
    const auto& weight = graph_.TypeOf(node.inputs[1]).shape;
    double taps = 1;
    for (size_t i = 2; i < weight.size(); ++i) taps *= static_cast<double>(weight[i]);
    flops = 2 * static_cast<double>(graph::CostOf(graph_, call).macs) * (taps > 1 ? kLeastOfTaps : 1);
    per_us = convolution_flops_per_us_;
  } else if (product.batch == 0) {
    return 0;
  }
  double weights = 0;
  for (const graph::ValueRef& input : node.inputs) {
    if (input.kind == graph::ValueRef::Kind::kParameter && first_use_[static_cast<size_t>(input.index)] == call)
      weights += bytes_of_byte_ * static_cast<double>(graph_.TypeOf(input).num_bytes());
  }
  return std::max(flops / per_us, missed_of_weights_ * weights / bytes_per_us_);
}

double ProductTime::MostUs(int32_t call) const {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  if (!is_known_) return kUnknown;
  const graph::Node& node = graph_.nodes()[static_cast<size_t>(call)];
  const Matrices product = MatricesOf(graph_, node);
  if (product.batch == 0) return kUnknown;
  double bytes = 0;
  for (const graph::ValueRef& input : node.inputs) {
    if (!input.is_none()) bytes += static_cast<double>(graph_.TypeOf(input).num_bytes());
  }
  for (const graph::TensorType& output : node.outputs) bytes += static_cast<double>(output.num_bytes());
  double compute_us = product.flops() / flops_per_us_;
  if (product.rows > 1 && product.columns > 1) {
    const double tiles = product.batch * InTiles(product.rows, kTile) * InTiles(product.columns, kTile);
    const double of_tile = 2.0 * kTile * kTile * kDepth * InTiles(product.depth, kDepth) / (flops_per_us_ / cores_);
    compute_us = std::ceil(tiles / cores_) * of_tile;
  }
  return kLaunchUs + kMostOfCompute * compute_us + kMostOfMemory * bytes_at_most_ * bytes / bytes_per_us_;
}

}  // namespace cobra::predict
