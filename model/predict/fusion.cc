#include "model/predict/fusion.h"

#include <algorithm>
#include <cstddef>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"

namespace cobra::predict {
namespace {

using graph::Op;

enum class Loops { kNone, kOfEachElement, kOfWindows, kReducing, kOfLibrary };

constexpr Op kOfLibraries[] = {Op::sort, Op::topk, Op::argsort, Op::kthvalue, Op::median};
// They read an element several times, so what they read is in memory.
constexpr Op kWindows[] = {Op::max_pool2d, Op::avg_pool2d, Op::interpolate};
// Of the size of their argument, but from sums over part of it.
constexpr Op kNormalizing[] = {Op::softmax, Op::log_softmax, Op::softmin, Op::normalize, Op::cumsum, Op::cumprod};
// What several kernels read is computed in each of them if it reads no more than this (TorchInductor's
// realize_reads_threshold).
constexpr int kFewTensors = 4;

int64_t ElementsRead(const graph::Graph& graph, const graph::Node& call) {
  return call.inputs.empty() || call.inputs[0].is_none() ? 0 : graph.TypeOf(call.inputs[0]).num_elements();
}

int64_t ElementsMade(const graph::Node& call) { return call.outputs.empty() ? 0 : call.outputs[0].num_elements(); }

Loops LoopsOf(const graph::Graph& graph, const graph::Node& call) {
  const bool computes = graph::GetOpInfo(call.op).cost_class == graph::CostClass::kCompute;
  if (computes || absl::c_linear_search(kOfLibraries, call.op)) return Loops::kOfLibrary;
  if (absl::c_linear_search(kWindows, call.op)) return Loops::kOfWindows;
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
  if (maker.loops == Loops::kOfEachElement || maker.loops == Loops::kOfWindows)
    return reader.loops == Loops::kOfEachElement || reader.loops == Loops::kReducing;
  if (maker.loops != Loops::kReducing || reader.loops != Loops::kOfEachElement) return false;
  // Over what is left after the sums, or once more over what was summed.
  return reader.made == maker.made || reader.made == maker.read;
}

// As TorchInductor's scheduler does: in the order of the calls, a kernel for what waits for the same kernels.
class Scheduler {
 public:
  Scheduler(const graph::Graph& graph, const MemoryOf& memory_of)
      : graph_(graph),
        memory_of_(memory_of),
        kernels_(size()),
        waits_(size()),
        readers_(size()),
        tensors_(size()),
        reader_(size()),
        first_(size()),
        is_kept_(size()) {
    absl::c_iota(first_, 0);
    ReadCalls();
    ComputeWhereRead();
  }

  bool IsOfLibrary(size_t node) const { return kernels_[node].loops == Loops::kOfLibrary; }

  // By input of the call: whether the kernel of the call makes it.
  std::vector<bool> Fused(size_t node) {
    std::vector<bool> fused(graph_.nodes()[node].inputs.size());
    tensors_[node] = static_cast<int>(
        absl::c_count_if(graph_.nodes()[node].inputs, [](const auto& input) { return !input.is_none(); }));
    ForEachMaker(node, [&](size_t i, size_t maker) {
      const bool computes = kernels_[maker].loops == Loops::kOfEachElement;
      if (computes) tensors_[node] = std::min(tensors_[node] + tensors_[maker] - 1, kFewTensors + 1);
      fused[i] = waits_[maker] == waits_[node] && AreOneKernel(kernels_[maker], kernels_[node]);
      if (fused[i]) Join(maker, node);
      // What reads few tensors is computed once more.
      if (!fused[i] && !(computes && tensors_[maker] <= kFewTensors)) is_kept_[maker] = true;
    });
    return fused;
  }

  // REQUIRES, likewise for FirstOfKernel(): Fused() was asked of all calls.
  bool Writes(size_t node) const {
    return kernels_[node].loops != Loops::kNone && (is_kept_[node] || readers_[node] == 0);
  }
  size_t FirstOfKernel(size_t node) {
    while (first_[node] != node) node = first_[node] = first_[first_[node]];
    return node;
  }

 private:
  size_t size() const { return graph_.nodes().size(); }

  // -1: it is an argument of the network.
  int32_t MakerOf(const graph::ValueRef& value) const {
    const graph::ValueRef tensor = memory_of_(value);
    return tensor.is_node() ? tensor.index : -1;
  }

  // `visit(input, maker)`, of each tensor that a call makes.
  template <typename Visit>
  void ForEachMaker(size_t node, const Visit& visit) const {
    if (kernels_[node].loops == Loops::kNone) return;
    const std::vector<graph::ValueRef>& inputs = graph_.nodes()[node].inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (const int32_t maker = MakerOf(inputs[i]); maker >= 0) visit(i, static_cast<size_t>(maker));
    }
  }

  void ReadCalls() {
    for (size_t node = 0; node < size(); ++node) {
      if (memory_of_.IsView(static_cast<int32_t>(node))) continue;
      kernels_[node] = KernelOf(graph_, graph_.nodes()[node]);
      const bool needs_memory = kernels_[node].loops == Loops::kOfLibrary || kernels_[node].loops == Loops::kOfWindows;
      ForEachMaker(node, [&](size_t, size_t maker) {
        const int more = AreOneKernel(kernels_[maker], kernels_[node]) ? 0 : 1;
        waits_[node] = std::max(waits_[node], waits_[maker] + more);
        ++readers_[maker];
        reader_[maker] = node;
        is_kept_[maker] = is_kept_[maker] || needs_memory;
      });
    }
    for (const graph::ValueRef& output : graph_.outputs()) {
      if (const int32_t maker = MakerOf(output); maker >= 0) is_kept_[static_cast<size_t>(maker)] = true;
    }
  }

  // What one call alone reads is computed there.
  void ComputeWhereRead() {
    for (size_t node = size(); node-- > 0;) {
      const bool is_simple = kernels_[node].loops == Loops::kOfEachElement && readers_[node] == 1 && !is_kept_[node];
      if (is_simple && AreOneKernel(kernels_[node], kernels_[reader_[node]])) waits_[node] = waits_[reader_[node]];
    }
  }

  void Join(size_t a, size_t b) {
    a = FirstOfKernel(a);
    b = FirstOfKernel(b);
    first_[std::max(a, b)] = std::min(a, b);
  }

  const graph::Graph& graph_;
  const MemoryOf& memory_of_;
  std::vector<Kernel> kernels_;  // by call, as what follows
  std::vector<int> waits_;       // how many kernels must have ended, one after the other
  std::vector<int> readers_;
  std::vector<int> tensors_;    // that it reads, or what is computed with it
  std::vector<size_t> reader_;  // the last one
  std::vector<size_t> first_;   // a call of the same kernel, earlier ones first
  std::vector<bool> is_kept_;   // in memory: for a library or another kernel, or as a result
};

}  // namespace

MemoryOf::MemoryOf(const graph::Graph& graph, const graph::Layout& layout) : shown_(graph.nodes().size()) {
  for (size_t node = 0; node < shown_.size(); ++node) {
    const graph::Node& call = graph.nodes()[node];
    const bool is_view = graph::IsAlias(graph, call) || (graph::IsView(call) && !layout.copies[node]);
    if (is_view && !call.inputs.empty()) shown_[node] = (*this)(call.inputs[0]);
  }
}

Fusion::Fusion(const graph::Graph& graph, const MemoryOf& memory_of) {
  const size_t calls = graph.nodes().size();
  Scheduler scheduler(graph, memory_of);
  for (size_t node = 0; node < calls; ++node) {
    fused_.push_back(scheduler.Fused(node));
    is_of_library_.push_back(scheduler.IsOfLibrary(node));
  }
  launches_.resize(calls);
  for (size_t node = 0; node < calls; ++node) {
    writes_.push_back(scheduler.Writes(node));
    if (writes_[node]) launches_[scheduler.FirstOfKernel(node)] = true;
  }
}

}  // namespace cobra::predict
