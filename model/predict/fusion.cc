#include "model/predict/fusion.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"

namespace cobra::predict {
namespace {

using graph::Op;

enum class Loops { kNone, kOfEachElement, kReducing, kOfLibrary };

constexpr Op kOfLibraries[] = {Op::sort, Op::topk, Op::argsort, Op::kthvalue, Op::median};
// Of the size of their argument, but from sums over part of it.
constexpr Op kNormalizing[] = {Op::softmax, Op::log_softmax, Op::softmin, Op::normalize, Op::cumsum, Op::cumprod};

int64_t Elements(const graph::TensorType& type) {
  int64_t product = 1;
  for (const int64_t size : type.shape) product *= size;
  return product;
}

int64_t ElementsRead(const graph::Graph& graph, const graph::Node& call) {
  return call.inputs.empty() || call.inputs[0].is_none() ? 0 : Elements(graph.TypeOf(call.inputs[0]));
}

int64_t ElementsMade(const graph::Node& call) { return call.outputs.empty() ? 0 : Elements(call.outputs[0]); }

Loops LoopsOf(const graph::Graph& graph, const graph::Node& call) {
  if (IsView(call) || IsAlias(graph, call)) return Loops::kNone;
  const bool computes = graph::GetOpInfo(call.op).cost_class == graph::CostClass::kCompute;
  if (computes || absl::c_linear_search(kOfLibraries, call.op)) return Loops::kOfLibrary;
  if (call.op == Op::batch_norm)
    return call.attributes.Bool("training", false) ? Loops::kReducing : Loops::kOfEachElement;
  const bool normalizes =
      absl::EndsWith(graph::OpName(call.op), "_norm") || absl::c_linear_search(kNormalizing, call.op);
  return normalizes || ElementsMade(call) < ElementsRead(graph, call) ? Loops::kReducing : Loops::kOfEachElement;
}

// The call that makes a tensor; -1 if it is an argument of the network.
int32_t MakerOf(const graph::Graph& graph, const graph::ValueRef& value) {
  const graph::ValueRef tensor = TensorOf(graph, value);
  return tensor.is_node() ? tensor.index : -1;
}

bool AreOneKernel(const graph::Graph& graph, const graph::Node& maker, const graph::Node& reader) {
  const Loops first = LoopsOf(graph, maker), second = LoopsOf(graph, reader);
  if (first == Loops::kOfEachElement) return second == Loops::kOfEachElement || second == Loops::kReducing;
  if (first != Loops::kReducing || second != Loops::kOfEachElement) return false;
  // Over what is left after the sums, or once more over what was summed.
  return ElementsMade(reader) == ElementsMade(maker) || ElementsMade(reader) == ElementsRead(graph, maker);
}

}  // namespace

graph::ValueRef TensorOf(const graph::Graph& graph, graph::ValueRef value) {
  while (value.is_node()) {
    const graph::Node& call = graph.nodes()[static_cast<size_t>(value.index)];
    if ((!IsView(call) && !IsAlias(graph, call)) || call.inputs.empty() || call.inputs[0].is_none()) break;
    value = call.inputs[0];
  }
  return value;
}

Fusion::Fusion(const graph::Graph& graph)
    : fused_(graph.nodes().size()), writes_(graph.nodes().size()), launches_(graph.nodes().size()) {
  std::vector<bool> is_read(graph.nodes().size());
  for (size_t node = 0; node < graph.nodes().size(); ++node) {
    const graph::Node& call = graph.nodes()[node];
    fused_[node].resize(call.inputs.size());
    if (LoopsOf(graph, call) == Loops::kNone) continue;
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      const int32_t maker = call.inputs[i].is_none() ? -1 : MakerOf(graph, call.inputs[i]);
      if (maker < 0) continue;
      is_read[static_cast<size_t>(maker)] = true;
      fused_[node][i] = AreOneKernel(graph, graph.nodes()[static_cast<size_t>(maker)], call);
      if (!fused_[node][i]) writes_[static_cast<size_t>(maker)] = true;
    }
    launches_[node] = absl::c_none_of(fused_[node], [](bool fused) { return fused; });
  }
  for (const graph::ValueRef& output : graph.outputs()) {
    if (const int32_t maker = MakerOf(graph, output); maker >= 0) writes_[static_cast<size_t>(maker)] = true;
  }
  for (size_t node = 0; node < writes_.size(); ++node) writes_[node] = writes_[node] || !is_read[node];
}

}  // namespace cobra::predict
