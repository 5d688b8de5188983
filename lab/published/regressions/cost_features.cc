#include "lab/published/regressions/cost_features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/strings/string_view.h"
#include "graph/cost/cost.h"
#include "model/predict/work/call_work.h"
#include "model/predict/work/features.h"

namespace cobra::lab {
namespace {

double Log2OnePlus(double x) { return std::log2(1 + std::max(0.0, x)); }

// The last four dimensions; 0 for each missing one.
std::array<int64_t, 4> LastFour(const graph::TensorType* type) {
  std::array<int64_t, 4> last{};
  const size_t rank = type == nullptr ? 0 : type->shape.size();
  for (size_t i = 0; i < std::min<size_t>(4, rank); ++i) last[3 - i] = type->shape[rank - 1 - i];
  return last;
}

void AppendPair(absl::Span<const int64_t> values, double fallback, std::vector<double>* out) {
  out->push_back(values.empty() ? fallback : static_cast<double>(values[0]));
  out->push_back(values.empty() ? fallback : static_cast<double>(values[values.size() - 1]));
}

const graph::TensorType* TypeOrNull(const graph::Graph& graph, const graph::Node& node, size_t input) {
  return input < node.inputs.size() && !node.inputs[input].is_none() ? &graph.TypeOf(node.inputs[input]) : nullptr;
}

// The weight of a convolution, a linear layer or an embedding; otherwise the second tensor.
const graph::TensorType* WeightOf(const graph::Graph& graph, const graph::Node& node) {
  return TypeOrNull(graph, node, node.op == graph::Op::embedding ? 0 : 1);
}

// How well channels and rows fill the blocks of vector kernels.
void AppendBlocking(const graph::Graph& graph, const graph::Node& node, std::vector<double>* out) {
  const auto input = LastFour(TypeOrNull(graph, node, 0)), weight = LastFour(WeightOf(graph, node)),
             output = LastFour(node.outputs.empty() ? nullptr : &node.outputs[0]);
  // The channels of conv1d are in another dimension.
  const bool convolution = node.op == graph::Op::conv2d || node.op == graph::Op::conv_transpose2d;
  const auto groups = static_cast<double>(std::max<int64_t>(1, node.attributes.Int("groups", 1)));
  const double in = convolution ? static_cast<double>(input[1]) / groups : static_cast<double>(input[3]);
  const double made = convolution ? static_cast<double>(output[1]) / groups : static_cast<double>(output[3]);
  const auto blocks = [](double x) { return x > 0 ? std::ceil(x / 16) * 16 : 0; };
  for (double x : {in, made, static_cast<double>(input[3]), static_cast<double>(output[3])}) {
    out->push_back(std::fmod(x, 16));
    out->push_back(x > 0 ? blocks(x) / x : 0);
  }
  const double window = convolution ? static_cast<double>(weight[1] * weight[2] * weight[3]) : 0;
  out->push_back(Log2OnePlus(window));
  out->push_back(Log2OnePlus(in));
  out->push_back(Log2OnePlus(made));
}

}  // namespace

std::vector<double> LayerFeatures(const graph::Graph& layer) {
  const int32_t main = predict::MainNode(layer);
  const graph::Node& node = layer.nodes()[static_cast<size_t>(main)];
  const graph::NodeCost cost = graph::CostOf(layer, main);
  std::vector<double> f = {static_cast<double>(node.op), static_cast<double>(graph::GetOpInfo(node.op).cost_class),
                           static_cast<double>(layer.nodes().size()), static_cast<double>(node.inputs.size()),
                           node.inplace ? 1.0 : 0.0};
  const graph::TensorType* types[] = {TypeOrNull(layer, node, 0), WeightOf(layer, node),
                                      node.outputs.empty() ? nullptr : &node.outputs[0]};
  for (const graph::TensorType* type : types) {
    for (int64_t d : LastFour(type)) f.push_back(Log2OnePlus(static_cast<double>(d)));
    f.push_back(type == nullptr ? 0 : Log2OnePlus(static_cast<double>(type->num_elements())));
  }
  AppendPair(node.attributes.IntSpan("kernel_size"), 1, &f);
  AppendPair(node.attributes.IntSpan("stride"), 1, &f);
  AppendPair(node.attributes.IntSpan("padding"), 0, &f);
  AppendPair(node.attributes.IntSpan("dilation"), 1, &f);
  f.push_back(Log2OnePlus(static_cast<double>(node.attributes.Int("groups", 1))));
  f.push_back(static_cast<double>(node.attributes.Int("dim", 0)));
  const auto bytes = static_cast<double>(cost.input_bytes + cost.weight_bytes + cost.output_bytes);
  const auto flops = static_cast<double>(cost.flops);
  for (double x : {static_cast<double>(cost.macs), flops, static_cast<double>(cost.input_bytes),
                   static_cast<double>(cost.weight_bytes), static_cast<double>(cost.output_bytes), bytes,
                   static_cast<double>(graph::PeakMemoryBytes(layer))}) {
    f.push_back(Log2OnePlus(x / 1e3));
  }
  f.push_back(Log2OnePlus(flops / std::max(1.0, bytes)));
  const predict::ConvolutionWork work = predict::ConvolutionWorkOf(layer, node).value_or(predict::ConvolutionWork{});
  using Algorithm = graph::ConvolutionAlgorithm;
  for (Algorithm algorithm :
       {Algorithm::kProduct, Algorithm::kGemm, Algorithm::kBlocked, Algorithm::kPointwise, Algorithm::kDepthwise})
    f.push_back(work.executed_macs > 0 && work.algorithm == algorithm ? 1 : 0);
  for (int64_t x : {work.executed_macs, work.unpadded_macs, work.stalled_macs, work.column_bytes, work.copied_bytes,
                    work.shuffled_bytes, work.weight_copy_bytes, work.mapped_bytes + predict::MappedBytes(node)})
    f.push_back(Log2OnePlus(static_cast<double>(x) / 1e3));
  AppendBlocking(layer, node, &f);
  return f;
}

std::vector<double> WorkFeatures(const graph::Graph& graph) {
  const graph::GraphCost cost = graph::CostOf(graph);
  return {static_cast<double>(cost.flops) / 1e6, static_cast<double>(cost.activation_bytes + cost.weight_bytes) / 1e6};
}

namespace {

// Families of operators: calls, operations and bytes are summed for each.
enum Family {
  kDepthwise,
  kPointwise,
  kConvolution,
  kProduct,
  kNorm,
  kRectifier,
  kAddition,
  kPooling,
  kJoin,
  kOtherMemory,
  kView,
  kNumFamilies
};

// The families that list their operators. Every other operator, also a new one, is in the family of
// its cost class: kProduct, kOtherMemory or kView.
constexpr std::pair<graph::Op, Family> kNamedFamilies[] = {
    {graph::Op::conv1d, kConvolution}, {graph::Op::conv2d, kConvolution}, {graph::Op::conv_transpose2d, kConvolution},
    {graph::Op::batch_norm, kNorm},    {graph::Op::layer_norm, kNorm},    {graph::Op::group_norm, kNorm},
    {graph::Op::relu, kRectifier},     {graph::Op::hardtanh, kRectifier}, {graph::Op::gelu, kRectifier},
    {graph::Op::silu, kRectifier},     {graph::Op::add, kAddition},       {graph::Op::mul, kAddition},
    {graph::Op::max_pool2d, kPooling}, {graph::Op::avg_pool2d, kPooling}, {graph::Op::adaptive_avg_pool2d, kPooling},
    {graph::Op::cat, kJoin},
};

Family FamilyOfClass(graph::CostClass cost_class) {
  switch (cost_class) {
    case graph::CostClass::kCompute: return kProduct;
    case graph::CostClass::kMemory: return kOtherMemory;
    case graph::CostClass::kView: return kView;
  }
  return kOtherMemory;
}

Family FamilyOf(const graph::Graph& graph, const graph::Node& node) {
  Family family = FamilyOfClass(graph::GetOpInfo(node.op).cost_class);
  for (const auto& [op, named] : kNamedFamilies) {
    if (op == node.op) family = named;
  }
  if (family != kConvolution) return family;
  const auto weight = LastFour(WeightOf(graph, node));
  if (node.attributes.Int("groups", 1) > 1 && weight[1] == 1) return kDepthwise;
  return weight[2] * weight[3] == 1 ? kPointwise : kConvolution;
}

}  // namespace

std::vector<double> NetworkFeatures(const graph::Graph& network) {
  const graph::GraphCost total = graph::CostOf(network);
  std::array<double, kNumFamilies> calls{}, flops{}, bytes{};
  double largest = 0;
  for (int32_t i = 0; i < static_cast<int32_t>(network.nodes().size()); ++i) {
    const auto family = static_cast<size_t>(FamilyOf(network, network.nodes()[static_cast<size_t>(i)]));
    const graph::NodeCost cost = graph::CostOf(network, i);
    calls[family] += 1;
    flops[family] += static_cast<double>(cost.flops);
    bytes[family] += static_cast<double>(cost.input_bytes + cost.weight_bytes + cost.output_bytes);
    largest = std::max(largest, static_cast<double>(cost.output_bytes));
  }
  std::vector<double> f;
  for (double x :
       {static_cast<double>(total.flops), static_cast<double>(total.activation_bytes),
        static_cast<double>(total.weight_bytes), static_cast<double>(graph::PeakMemoryBytes(network)), largest}) {
    f.push_back(Log2OnePlus(x / 1e3));
  }
  f.push_back(static_cast<double>(network.nodes().size()));
  f.push_back(static_cast<double>(predict::GraphEdges(network).size()));
  for (double x : calls) f.push_back(x);
  for (double x : flops) f.push_back(Log2OnePlus(x / 1e3));
  for (double x : bytes) f.push_back(Log2OnePlus(x / 1e3));
  return f;
}

int KindNumber(const graph::Node& node, std::vector<std::string>* kinds) {
  const std::string name(graph::OpName(node.op));
  const auto found = std::find(kinds->begin(), kinds->end(), name);
  if (found != kinds->end()) return static_cast<int>(found - kinds->begin());
  kinds->push_back(name);
  return static_cast<int>(kinds->size()) - 1;
}

std::vector<double> CallParameters(const graph::Graph& graph, int32_t index) {
  const graph::Node& node = graph.nodes()[static_cast<size_t>(index)];
  std::vector<double> f;
  for (const graph::TensorType* type :
       {TypeOrNull(graph, node, 0), WeightOf(graph, node), node.outputs.empty() ? nullptr : &node.outputs[0]}) {
    for (int64_t d : LastFour(type)) f.push_back(Log2OnePlus(static_cast<double>(d)) / 10);
  }
  std::vector<double> pairs;
  for (const char* name : {"kernel_size", "stride", "padding", "dilation"})
    AppendPair(node.attributes.IntSpan(name), 0, &pairs);
  pairs.push_back(static_cast<double>(node.attributes.Int("groups", 1)));
  for (double x : pairs) f.push_back(Log2OnePlus(x) / 10);
  return f;
}

}  // namespace cobra::lab
