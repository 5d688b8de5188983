// What the ATen dispatcher runs in convolutions and products counts as multiply-accumulates; everything else counts as
// FLOPs.
#include "graph/cost.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "graph/layout.h"
#include "graph/saturated.h"

namespace cobra::graph {
namespace {

enum class Work : uint8_t {
  kZero,           // moves data
  kOutput,         // one operation per output element
  kInput,          // one operation per input element
  kNorm,           // passes over the input: mean, variance, scale
  kPool,           // one operation per window element
  kFft,            // 5 n log2 n, n the transformed elements
  kProduct,        // a tensor product whose multiply-accumulates PyTorch's own counters leave out
  kProductOfLast,  // addbmm: the product of the last two inputs
  kSecond,         // one multiply-add for each element of the second input
  kFactor,         // a factorization: n m min(n, m)
  kRnnCell,
  kConvTbc,
  kConv,
  kConvTranspose,
  kLinear,
  kMatmul,
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

// An equation with letters only: the product of all sizes, or 0 with a single operand. With an ellipsis: the number of
// output elements times the sizes of the summed letters.
int64_t EinsumMacs(const Node& node, const std::vector<const TensorType*>& inputs) {
  std::string equation = node.attributes.String("equation");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  const size_t arrow = equation.find("->");
  const std::string left = equation.substr(0, arrow);
  const std::string right = arrow == std::string::npos ? "" : equation.substr(arrow + 2);
  const bool ellipsis = equation.find("...") != std::string::npos;
  std::map<char, int64_t> sizes;
  size_t operand = 0, begin = 0;
  for (size_t end = 0; end <= left.size(); ++end) {
    if (end != left.size() && left[end] != ',') continue;
    if (operand >= inputs.size()) break;
    const std::string term = left.substr(begin, end - begin);
    const Shape& shape = inputs[operand++]->shape;
    const size_t dots = term.find("...");
    const size_t tail = dots == std::string::npos ? 0 : term.size() - dots - 3;
    for (size_t i = 0; i < std::min(dots, term.size()); ++i) sizes[term[i]] = shape[i];
    for (size_t i = 0; i < tail; ++i) sizes[term[dots + 3 + i]] = shape[shape.size() - tail + i];
    begin = end + 1;
  }
  if (!ellipsis && operand < 2) return 0;
  int64_t macs = ellipsis ? node.outputs[0].num_elements() : 1;
  for (const auto& [letter, size] : sizes) {
    if (!ellipsis || right.find(letter) == std::string::npos) macs = Times(macs, size);
  }
  return macs;
}

int64_t MhaMacs(const Node& node, const std::vector<const TensorType*>& in) {
  const Shape& query = in[0]->shape;
  const int64_t embed = query.back(), queries = query[0], keys = in[1]->shape[0];
  const int64_t batch = query.size() == 3 ? query[1] : 1;
  const int64_t projections =
      queries * embed * embed + keys * in[1]->shape.back() * embed + keys * in[2]->shape.back() * embed;
  const int64_t out = node.outputs[0].shape.back();
  return Times(batch, projections + 2 * queries * keys * embed + queries * embed * out);
}

int64_t RnnMacs(const Node& node, const std::vector<const TensorType*>& in) {
  const TensorType& out = node.outputs[0];
  const int64_t steps = out.shape.back() == 0 ? 0 : out.num_elements() / out.shape.back();
  int64_t weights = 0;
  for (size_t i = GetOpInfo(node.op).inputs.size() - 1; i < in.size(); ++i) {  // the parameters are the last input
    if (in[i]->rank() == 2) weights += in[i]->num_elements();
  }
  return Times(steps, weights);
}

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
    case Work::kEinsum: return EinsumMacs(node, in);
    case Work::kSdpa: {
      const int64_t keys = in[1]->shape[in[1]->rank() - 2];
      return Plus(Times(in[0]->num_elements(), keys), Times(out, keys));
    }
    case Work::kMha: return MhaMacs(node, in);
    case Work::kRnn: return RnnMacs(node, in);
    case Work::kZero:
    case Work::kOutput:
    case Work::kInput:
    case Work::kNorm:
    case Work::kPool:
    case Work::kFft:
    case Work::kProduct:
    case Work::kProductOfLast:
    case Work::kSecond:
    case Work::kFactor:
    case Work::kRnnCell:
    case Work::kConvTbc: return 0;
  }
  return 0;
}

int64_t Clamped(double flops) { return flops < 9e18 ? static_cast<int64_t>(flops) : INT64_MAX; }

// 5 n log2 n over the transformed dimensions; half of it if the input or the output is real. A short-time transform
// does this for each frame.
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
    // Take the larger size of each dimension: a real transform keeps only half of the last dimension on one side.
    for (int d = 0; d < input.rank(); ++d) elements *= static_cast<double>(std::max(input.shape[d], output.shape[d]));
    for (int64_t d : dims) {
      const int64_t at = d < 0 ? d + input.rank() : d;
      transformed *= static_cast<double>(std::max(input.shape[at], output.shape[at]));
    }
  }
  return Clamped((real ? 2.5 : 5) * elements * std::log2(std::max(transformed, 2.0)));
}

int64_t NonMacFlops(const Node& node, const std::vector<const TensorType*>& in) {
  const int64_t out = node.outputs.empty() ? 0 : node.outputs[0].num_elements();
  const int64_t first = in.empty() || in[0] == nullptr ? 0 : in[0]->num_elements();
  switch (kWork[static_cast<size_t>(node.op)]) {
    case Work::kOutput: return out;
    case Work::kInput: return first;
    case Work::kNorm: return Times(kNormPasses, first);
    case Work::kFft: return FftFlops(node, in);
    case Work::kProduct: {
      // a M x K and K x N product, whichever dimensions form M, K and N: M N K = sqrt(MK * KN * MN)
      const double second = in.size() < 2 || in[1] == nullptr ? 1 : static_cast<double>(in[1]->num_elements());
      return Clamped(2 * std::sqrt(static_cast<double>(first) * second * static_cast<double>(out)));
    }
    case Work::kProductOfLast: return Times(2, Times(in[1]->num_elements(), in[2]->shape.back()));
    case Work::kSecond: return Times(2, in[1]->num_elements());
    case Work::kFactor: {
      const Shape& shape = in[0]->shape;
      return Times(2, Times(first, shape.size() < 2 ? 1 : std::min(shape[shape.size() - 1], shape[shape.size() - 2])));
    }
    case Work::kRnnCell: {
      int64_t weights = 0;
      bool is_weight = false;  // weights follow the states
      for (size_t i = 0; i < in.size(); ++i) {
        is_weight = is_weight || GetOpInfo(node.op).input(i).name == "w_ih";
        if (is_weight && in[i] != nullptr && in[i]->rank() == 2) weights += in[i]->num_elements();
      }
      return Times(2, Times(weights, in[0]->rank() == 2 ? in[0]->shape[0] : 1));
    }
    case Work::kConvTbc: return Times(2, Times(out, in[1]->num_elements() / std::max<int64_t>(1, in[1]->shape[2])));
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
    case Work::kAddmm:
    case Work::kGroupedMm:
    case Work::kBilinear:
    case Work::kEinsum:
    case Work::kSdpa:
    case Work::kMha:
    case Work::kRnn: return 0;
  }
  return 0;
}

NodeCost CostOfNode(const Graph& graph, const Node& node, bool copies) {
  NodeCost cost;
  if (IsAlias(graph, node) || (IsView(node) && !copies)) return cost;
  std::vector<const TensorType*> in;
  in.reserve(node.inputs.size());
  for (const ValueRef& ref : node.inputs) {
    in.push_back(ref.is_none() ? nullptr : &graph.TypeOf(ref));
    if (ref.is_none()) continue;
    const bool activation = ref.is_node() || ref.kind == ValueRef::Kind::kInput;
    int64_t& bytes = activation ? cost.input_bytes : cost.weight_bytes;
    bytes = Plus(bytes, in.back()->num_bytes());
  }
  cost.macs = MacsOf(node, in);
  cost.flops = Plus(Times(2, cost.macs), NonMacFlops(node, in));
  for (const TensorType& output : node.outputs) cost.output_bytes = Plus(cost.output_bytes, output.num_bytes());
  return cost;
}

Node NodeOfCall(Op op, const Attributes& attributes, const std::vector<TensorType>& outputs) {
  Node call;
  call.op = op;
  call.attributes = attributes;
  call.outputs = outputs;
  return call;
}

}  // namespace

NodeCost CostOf(const Graph& graph, int32_t node) { return CostOfNode(graph, graph.nodes()[node], /*copies=*/false); }

std::vector<NodeCost> NodeCosts(const Graph& graph) {
  const Layout layout = ComputeLayout(graph);
  std::vector<NodeCost> costs;
  costs.reserve(graph.nodes().size());
  for (size_t k = 0; k < graph.nodes().size(); ++k) {
    costs.push_back(CostOfNode(graph, graph.nodes()[k], layout.copies[k]));
  }
  return costs;
}

int64_t MacsOfCall(Op op, const Attributes& attributes, const std::vector<const TensorType*>& inputs,
                   const std::vector<TensorType>& outputs) {
  return MacsOf(NodeOfCall(op, attributes, outputs), inputs);
}

int64_t FlopsOfCall(Op op, const Attributes& attributes, const std::vector<const TensorType*>& inputs,
                    const std::vector<TensorType>& outputs) {
  const Node call = NodeOfCall(op, attributes, outputs);
  return Plus(Times(2, MacsOf(call, inputs)), NonMacFlops(call, inputs));
}

GraphCost CostOf(const Graph& graph) {
  GraphCost total;
  for (const NodeCost& cost : NodeCosts(graph)) {
    total.macs = Plus(total.macs, cost.macs);
    total.flops = Plus(total.flops, cost.flops);
    total.activation_bytes = Plus(total.activation_bytes, Plus(cost.input_bytes, cost.output_bytes));
    total.weight_bytes = Plus(total.weight_bytes, cost.weight_bytes);
  }
  total.macs = Plus(total.macs, graph.folded_macs());
  return total;
}

}  // namespace cobra::graph
