// What ATen runs in convolutions and products counts as multiply-accumulates (graph/cost/macs.h);
// everything else counts as FLOPs.
#include "graph/cost/cost.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "graph/cost/macs.h"
#include "graph/cost/touched_bytes.h"
#include "graph/distinct_calls.h"
#include "graph/op_rules.h"
#include "graph/saturated.h"
#include "graph/shape/layout.h"

namespace cobra::graph {
namespace {

enum class Work : uint8_t {
  kZero,           // moves data
  kOutput,         // one operation per output element
  kInput,          // one operation per input element
  kNorm,           // passes over the input: mean, variance, scale
  kPool,           // one operation per window element
  kFft,            // 5 n log2 n, n the transformed elements
  kDistance,       // a subtraction, a square and a sum for each coordinate of each pair of points
  kProductOfLast,  // addbmm: the product of the last two inputs
  kSecond,         // one multiply-accumulate for each element of the second input
  kFactor,         // a factorization: n m min(n, m)
  kRnnCell,
  kConvTbc,
  kConv,
  kConvTranspose,
  kLinear,
  kMatmul,
  kInner,
  kTensordot,
  kMultiDot,
  kMatrixPower,
  kCov,
  kAddmm,
  kGroupedMm,
  kBilinear,
  kEinsum,
  kSdpa,
  kMha,
  kRnn,
};

constexpr Work kWork[] = {
#define COBRA_OP(name, cost_class, inputs, attributes, shape, work) Work::work,
#include "graph/ops.def"
#undef COBRA_OP
};

constexpr int64_t kNormPasses = 4;

// inner() of a scalar and a tensor is their elementwise product.
bool IsScaled(const std::vector<const TensorType*>& in) { return in[0]->rank() == 0 || in[1]->rank() == 0; }

int64_t MacsOf(const Node& node, const std::vector<const TensorType*>& in) {
  const int64_t out = node.outputs.empty() ? 0 : node.outputs[0].num_elements();
  const auto per_filter = [](const TensorType& weight) {
    return weight.rank() == 0 || weight.shape[0] == 0 ? 0 : weight.num_elements() / weight.shape[0];
  };
  switch (kWork[static_cast<size_t>(node.op)]) {
    case Work::kConv: return Times(out, per_filter(*in[1]));
    case Work::kConvTranspose: return Times(in[0]->num_elements(), per_filter(*in[1]));
    case Work::kLinear: return Times(out, in[1]->shape.back());
    case Work::kMatmul: return Times(out, in[0]->shape.back());
    case Work::kGroupedMm:  // with two matrices the groups are summed over, and each has a result of its own
      return in[1]->rank() == 2 && in[0]->rank() == 2 ? Times(in[0]->num_elements(), in[1]->shape.back())
                                                      : Times(out, in[0]->shape.back());
    case Work::kAddmm: return Times(out, in[1]->shape.back());
    case Work::kBilinear: return Times(out, per_filter(*in[2]));
    case Work::kEinsum: return EinsumWorkOf(node.attributes.String("equation"), in).macs;
    case Work::kSdpa: return SdpaMacs(node, in);
    case Work::kMha: return MhaMacs(node, in);
    case Work::kRnn: return RnnMacs(node, in);
    case Work::kRnnCell: return RnnCellMacs(node, in);
    case Work::kInner: return IsScaled(in) ? 0 : Times(out, in[0]->shape.back());
    case Work::kTensordot: return TensordotMacs(node, in);
    case Work::kMultiDot: return MultiDotMacs(in);
    case Work::kMatrixPower: return MatrixPowerMacs(node, *in[0]);
    case Work::kCov: return CovMacs(*in[0]);
    case Work::kProductOfLast: return Times(in[1]->num_elements(), in[2]->shape.back());
    case Work::kSecond: return in[1]->num_elements();
    case Work::kConvTbc: return Times(out, in[1]->num_elements() / std::max<int64_t>(1, in[1]->shape[2]));
    case Work::kZero:
    case Work::kOutput:
    case Work::kInput:
    case Work::kNorm:
    case Work::kPool:
    case Work::kFft:
    case Work::kDistance:
    case Work::kFactor: return 0;
  }
  return 0;
}

int64_t Clamped(double flops) { return flops < 9e18 ? static_cast<int64_t>(flops) : INT64_MAX; }

// 5 n log2 n over the transformed dimensions; half of it if the input or the output is real. A
// short-time transform does this for each frame.
int64_t FftFlops(const Node& node, const std::vector<const TensorType*>& in) {
  const absl::string_view name = OpName(node.op);
  const TensorType& input = *in[0];
  const TensorType& output = node.outputs[0];
  const bool real = !IsComplex(input.dtype) || !IsComplex(output.dtype);
  double transformed = 1, elements = 1;
  if (node.op == Op::stft || node.op == Op::istft) {
    transformed = static_cast<double>(node.attributes.Int("n_fft", 1));
    const TensorType& spectrum = node.op == Op::stft ? output : input;
    const int frames = spectrum.rank() - (node.op == Op::stft && !IsComplex(output.dtype) ? 2 : 1);
    elements = transformed * static_cast<double>(spectrum.shape[frames]) *
               (spectrum.rank() > frames && frames == 2 ? static_cast<double>(spectrum.shape[0]) : 1);
  } else {
    std::vector<int64_t> dims = node.attributes.Ints("dim");
    const bool last_two = !name.empty() && name.back() == '2';
    if (dims.empty() && last_two) dims = {-2, -1};
    if (dims.empty() && name.back() != 'n') dims = {-1};
    if (dims.empty()) {
      for (int d = 0; d < input.rank(); ++d) dims.push_back(d);
    }
    // Take the larger size of each dimension: a real transform keeps only half of the last
    // dimension on one side.
    for (int d = 0; d < input.rank(); ++d) elements *= static_cast<double>(std::max(input.shape[d], output.shape[d]));
    for (int64_t d : dims) {
      const int64_t at = d < 0 ? d + input.rank() : d;
      transformed *= static_cast<double>(std::max(input.shape[at], output.shape[at]));
    }
  }
  return Clamped((real ? 2.5 : 5) * elements * std::log2(std::max(transformed, 2.0)));
}

int64_t FactorFlops(const TensorType& matrix) {
  const Shape& shape = matrix.shape;
  const int64_t inner = shape.size() < 2 ? 1 : std::min(shape[shape.size() - 1], shape[shape.size() - 2]);
  return Times(2, Times(matrix.num_elements(), inner));
}

int64_t NonMacFlops(const Node& node, const std::vector<const TensorType*>& in) {
  const int64_t out = node.outputs.empty() ? 0 : node.outputs[0].num_elements();
  const int64_t first = in.empty() || in[0] == nullptr ? 0 : in[0]->num_elements();
  switch (kWork[static_cast<size_t>(node.op)]) {
    case Work::kOutput: return out;
    case Work::kInput: return first;
    case Work::kNorm: return Times(kNormPasses, first);
    case Work::kFft: return FftFlops(node, in);
    case Work::kDistance: return Times(3, Times(out, in[0]->rank() == 0 ? 1 : in[0]->shape.back()));
    case Work::kFactor: return FactorFlops(*in[0]);
    case Work::kMatrixPower: return node.attributes.Int("n") < 0 ? FactorFlops(*in[0]) : 0;  // of the inverse
    case Work::kCov: return Times(2, first);  // the mean of each variable, and what is left without it
    case Work::kInner: return IsScaled(in) ? out : 0;
    case Work::kEinsum: return EinsumWorkOf(node.attributes.String("equation"), in).elementwise;
    case Work::kPool: {
      int64_t window = 1;
      const std::vector<int64_t> kernel = node.attributes.Ints("kernel_size");
      for (int64_t k : kernel) window = Times(window, k);
      return Times(out, window);
    }
    case Work::kZero:
    case Work::kConv:
    case Work::kConvTranspose:
    case Work::kLinear:
    case Work::kMatmul:
    case Work::kTensordot:
    case Work::kMultiDot:
    case Work::kAddmm:
    case Work::kProductOfLast:
    case Work::kSecond:
    case Work::kGroupedMm:
    case Work::kBilinear:
    case Work::kConvTbc:
    case Work::kSdpa:
    case Work::kMha:
    case Work::kRnn:
    case Work::kRnnCell: return 0;
  }
  return 0;
}

// Memory that nobody writes to is not touched.
bool LeavesUnset(const Node& node) { return node.op == Op::new_ || RulesOf(node.op).randomness == Randomness::kUnset; }

NodeCost CostOfNode(const Graph& graph, const Node& node, bool copies) {
  NodeCost cost;
  if (IsAlias(graph, node) || (IsView(node) && !copies)) return cost;
  std::vector<const TensorType*> in;
  in.reserve(node.inputs.size());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueRef& ref = node.inputs[i];
    in.push_back(ref.is_none() ? nullptr : &graph.TypeOf(ref));
    const bool activation = ref.is_node() || ref.kind == ValueRef::Kind::kInput;
    int64_t& bytes = activation ? cost.input_bytes : cost.weight_bytes;
    bytes = Plus(bytes, BytesRead(graph, node, i));
  }
  cost.macs = MacsOf(node, in);
  cost.flops = Plus(Times(2, cost.macs), NonMacFlops(node, in));
  if (LeavesUnset(node)) return cost;
  for (size_t i = 0; i < node.outputs.size(); ++i)
    cost.output_bytes = Plus(cost.output_bytes, BytesWritten(graph, node, i));
  return cost;
}

Node NodeOfCall(Op op, const Attributes& attributes, const TensorTypes& outputs) {
  Node call;
  call.op = op;
  call.attributes = attributes;
  call.outputs = outputs;
  return call;
}

// Unless they copy.
std::vector<NodeCost> CostsOfDistinct(const Graph& graph, const DistinctCalls& calls) {
  std::vector<NodeCost> costs;
  costs.reserve(calls.size());
  for (const int32_t call : calls.first)
    costs.push_back(CostOfNode(graph, graph.nodes()[static_cast<size_t>(call)], /*copies=*/false));
  return costs;
}

void Add(const NodeCost& cost, int64_t times, GraphCost* total) {
  total->macs = Plus(total->macs, Times(times, cost.macs));
  total->flops = Plus(total->flops, Times(times, cost.flops));
  total->activation_bytes = Plus(total->activation_bytes, Times(times, Plus(cost.input_bytes, cost.output_bytes)));
  total->weight_bytes = Plus(total->weight_bytes, Times(times, cost.weight_bytes));
}

}  // namespace

NodeCost CostOf(const Graph& graph, int32_t node) { return CostOfNode(graph, graph.nodes()[node], /*copies=*/false); }

std::vector<NodeCost> NodeCosts(const Graph& graph) {
  const Layout layout = ComputeLayout(graph);
  const std::shared_ptr<const DistinctCalls> calls = DistinctCallsOf(graph);
  const std::vector<NodeCost> of_distinct = CostsOfDistinct(graph, *calls);
  std::vector<NodeCost> costs;
  costs.reserve(graph.nodes().size());
  for (size_t k = 0; k < graph.nodes().size(); ++k) {
    costs.push_back(layout.copies[k] ? CostOfNode(graph, graph.nodes()[k], /*copies=*/true)
                                     : of_distinct[static_cast<size_t>(calls->of_call[k])]);
  }
  return costs;
}

int64_t MacsOfCall(Op op, const Attributes& attributes, const std::vector<const TensorType*>& inputs,
                   const TensorTypes& outputs) {
  return MacsOf(NodeOfCall(op, attributes, outputs), inputs);
}

int64_t FlopsOfCall(Op op, const Attributes& attributes, const std::vector<const TensorType*>& inputs,
                    const TensorTypes& outputs) {
  const Node call = NodeOfCall(op, attributes, outputs);
  return Plus(Times(2, MacsOf(call, inputs)), NonMacFlops(call, inputs));
}

// Sums that stop at the largest number do not depend on their order.
GraphCost CostOf(const Graph& graph) {
  const Layout layout = ComputeLayout(graph);
  const std::shared_ptr<const DistinctCalls> calls = DistinctCallsOf(graph);
  GraphCost total;
  std::vector<int64_t> counts(calls->size());
  for (size_t k = 0; k < graph.nodes().size(); ++k) {
    if (layout.copies[k])
      Add(CostOfNode(graph, graph.nodes()[k], /*copies=*/true), 1, &total);
    else
      ++counts[static_cast<size_t>(calls->of_call[k])];
  }
  const std::vector<NodeCost> of_distinct = CostsOfDistinct(graph, *calls);
  for (size_t i = 0; i < counts.size(); ++i) Add(of_distinct[i], counts[i], &total);
  return total;
}

}  // namespace cobra::graph
