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

int64_t ElementsRead(const graph::Graph& graph, const graph::Node& call) {
  return call.inputs.empty() || call.inputs[0].is_none() ? 0 : graph.TypeOf(call.inputs[0]).num_elements();
}

int64_t ElementsMade(const graph::Node& call) { return call.outputs.empty() ? 0 : call.outputs[0].num_elements(); }

Loops LoopsOf(const graph::Graph& graph, const graph::Node& call) {
  const bool computes = graph::GetOpInfo(call.op).cost_class == graph::CostClass::kCompute;
  if (computes || absl::c_linear_search(kOfLibraries, call.op)) return Loops::kOfLibrary;
  if (call.op == Op::batch_norm)
    return call.attributes.Bool("training", false) ? Loops::kReducing : Loops::kOfEachElement;
  const bool normalizes =
      absl::EndsWith(graph::OpName(call.op), "_norm") || absl::c_linear_search(kNormalizing, call.op);
  return normalizes || ElementsMade(call) < ElementsRead(graph, call) ? Loops::kReducing : Loops::kOfEachElement;
}

struct Kernel {
  Loops loops = Loops::kNone;
  int64_t read = 0, made = 0;  // elements of its first tensor, and of its first result
};

Kernel KernelOf(const graph::Graph& graph, const graph::Node& call) {
  return {LoopsOf(graph, call), ElementsRead(graph, call), ElementsMade(call)};
}

bool AreOneKernel(const Kernel& maker, const Kernel& reader) {
  if (maker.loops == Loops::kOfEachElement)
    return reader.loops == Loops::kOfEachElement || reader.loops == Loops::kReducing;
  if (maker.loops != Loops::kReducing || reader.loops != Loops::kOfEachElement) return false;
  // Over what is left after the sums, or once more over what was summed.
  return reader.made == maker.made || reader.made == maker.read;
}

}  // namespace

MemoryOf::MemoryOf(const graph::Graph& graph, const graph::Layout& layout) : shown_(graph.nodes().size()) {
  for (size_t node = 0; node < shown_.size(); ++node) {
    const graph::Node& call = graph.nodes()[node];
    const bool is_view = graph::IsAlias(graph, call) || (graph::IsView(call) && !layout.copies[node]);
    if (is_view && !call.inputs.empty()) shown_[node] = (*this)(call.inputs[0]);
  }
}

Fusion::Fusion(const graph::Graph& graph, const MemoryOf& memory_of)
    : fused_(graph.nodes().size()), writes_(graph.nodes().size()), launches_(graph.nodes().size()) {
  const auto maker_of = [&](const graph::ValueRef& value) {  // -1: an argument of the network
    const graph::ValueRef tensor = memory_of(value);
    return tensor.is_node() ? tensor.index : -1;
  };
  std::vector<Kernel> kernels;
  for (size_t node = 0; node < graph.nodes().size(); ++node)
    kernels.push_back(memory_of.IsView(static_cast<int32_t>(node)) ? Kernel{} : KernelOf(graph, graph.nodes()[node]));
  std::vector<bool> is_read(graph.nodes().size());
  for (size_t node = 0; node < graph.nodes().size(); ++node) {
    const graph::Node& call = graph.nodes()[node];
    fused_[node].resize(call.inputs.size());
    if (kernels[node].loops == Loops::kNone) continue;
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      const int32_t maker = maker_of(call.inputs[i]);
      if (maker < 0) continue;
      is_read[static_cast<size_t>(maker)] = true;
      fused_[node][i] = AreOneKernel(kernels[static_cast<size_t>(maker)], kernels[node]);
      if (!fused_[node][i]) writes_[static_cast<size_t>(maker)] = true;
    }
    launches_[node] = absl::c_none_of(fused_[node], [](bool fused) { return fused; });
  }
  for (const graph::ValueRef& output : graph.outputs()) {
    if (const int32_t maker = maker_of(output); maker >= 0) writes_[static_cast<size_t>(maker)] = true;
  }
  for (size_t node = 0; node < writes_.size(); ++node) writes_[node] = writes_[node] || !is_read[node];
}

}  // namespace cobra::predict
