#include "model/predict/work/fusion.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "graph/saturated.h"
#include "model/predict/work/call_work.h"

namespace cobra::predict {
namespace {

using graph::Op;

enum class Loops { kNone, kOfEachElement, kOfWindows, kCopying, kReducing, kOfLibrary };

constexpr Op kOfLibraries[] = {Op::sort, Op::topk, Op::argsort, Op::kthvalue, Op::median};
// They read an element several times, so what they read is in memory. (interpolate: unless it takes
// the nearest one.)
constexpr Op kWindows[] = {Op::max_pool1d, Op::max_pool2d, Op::max_pool3d, Op::avg_pool1d,
                           Op::avg_pool2d, Op::avg_pool3d, Op::interpolate};
// They make fewer elements than they read, and sum nothing.
constexpr Op kChoosing[] = {Op::glu, Op::index_select, Op::gather, Op::embedding};
// Their formulas have the argument twice.
constexpr Op kReadTwice[] = {Op::gelu, Op::silu, Op::mish, Op::hardswish};
// Of the size of their argument, but from sums over part of it.
constexpr Op kNormalizing[] = {Op::softmax, Op::log_softmax, Op::softmin, Op::normalize, Op::cumsum, Op::cumprod};

// TorchInductor's realize_reads_threshold and realize_acc_reads_threshold: what reads more tensors
// is in memory, if it is read several times or always.
constexpr int kFewReads = 4, kMostReads = 8;
constexpr size_t kMostJoined = 8;  // tensors that a cat reads where they are made; of more each is copied

// What a reducing call sums. Two in one kernel have the same.
struct Sums {
  int64_t rows = 0, read = 0;  // sums, 0: none; elements
  bool over_last = false;      // dimension
  bool operator==(const Sums& other) const {
    return rows == other.rows && read == other.read && over_last == other.over_last;
  }
};

struct Kernel {
  Loops loops = Loops::kNone;
  int64_t read = 0, made = 0;  // elements of its first tensor, and of its first result
  Sums sums;
  bool is_over_image = false;  // sums pixels that do not lie side by side: the channels are last
};

int64_t ElementsRead(const graph::Graph& graph, const graph::Node& call) {
  return call.inputs.empty() || call.inputs[0].is_none() ? 0 : graph.TypeOf(call.inputs[0]).num_elements();
}

int64_t ElementsMade(const graph::Node& call) { return call.outputs.empty() ? 0 : call.outputs[0].num_elements(); }

Loops LoopsOf(const graph::Graph& graph, const graph::Node& call) {
  const bool computes = graph::GetOpInfo(call.op).cost_class == graph::CostClass::kCompute;
  if (computes || absl::c_linear_search(kOfLibraries, call.op)) return Loops::kOfLibrary;
  if (call.op == Op::interpolate && absl::StartsWith(call.attributes.String("mode", "nearest"), "nearest"))
    return Loops::kOfEachElement;
  if (absl::c_linear_search(kWindows, call.op)) return Loops::kOfWindows;
  if (absl::c_linear_search(kChoosing, call.op)) return Loops::kOfEachElement;
  if (call.op == Op::cat && call.inputs.size() > kMostJoined) return Loops::kCopying;
  if (call.op == Op::batch_norm)
    return call.attributes.Bool("training", false) ? Loops::kReducing : Loops::kOfEachElement;
  const bool normalizes =
      absl::EndsWith(graph::OpName(call.op), "_norm") || absl::c_linear_search(kNormalizing, call.op);
  return normalizes || ElementsMade(call) < ElementsRead(graph, call) ? Loops::kReducing : Loops::kOfEachElement;
}

Sums SumsOf(const graph::Graph& graph, const graph::Node& call) {
  const graph::Shape& in = graph.TypeOf(call.inputs[0]).shape;
  const int64_t read = ElementsRead(graph, call);
  if (in.size() < 2 || read == 0) return {1, read, true};
  const auto last = static_cast<int64_t>(in.size()) - 1;
  if (call.op == Op::batch_norm) return {in[1], read, true};
  if (call.op == Op::instance_norm) return {graph::Times(in[0], in[1]), read, true};
  if (call.op == Op::group_norm) return {graph::Times(in[0], call.attributes.Int("num_groups", 1)), read, true};
  if (absl::EndsWith(graph::OpName(call.op), "_norm")) return {read / in[last], read, true};
  if (absl::c_linear_search(kNormalizing, call.op)) {
    const int64_t dim = call.attributes.Int("dim", -1), at = dim < 0 ? dim + last + 1 : dim;
    if (at >= 0 && at <= last) return {read / in[at], read, at == last};
  }
  const graph::Shape& out = call.outputs[0].shape;
  return {std::max<int64_t>(ElementsMade(call), 1), read, out.empty() || out.back() != in[last]};
}

Kernel KernelOf(const graph::Graph& graph, const graph::Layout& layout, const graph::Node& call) {
  Kernel kernel{LoopsOf(graph, call), ElementsRead(graph, call), ElementsMade(call)};
  if (kernel.loops != Loops::kReducing || call.inputs.empty() || call.inputs[0].is_none()) return kernel;
  kernel.sums = SumsOf(graph, call);
  const graph::Shape& in = graph.TypeOf(call.inputs[0]).shape;
  const graph::Strides strides = layout.Of(graph, call.inputs[0]);
  kernel.is_over_image = in.size() == 4 && kernel.sums.over_last && kernel.sums.rows <= graph::Times(in[0], in[1]) &&
                         !graph::IsContiguous(in, strides) && graph::IsChannelsLast(in, strides);
  return kernel;
}

bool AreOneKernel(const Kernel& maker, const Kernel& reader) {
  if (reader.loops == Loops::kOfLibrary || reader.loops == Loops::kOfWindows) return false;
  if (maker.loops == Loops::kOfEachElement || maker.loops == Loops::kOfWindows) return reader.loops != Loops::kNone;
  if (maker.loops != Loops::kReducing) return false;
  if (reader.loops == Loops::kReducing) return maker.sums == reader.sums;
  // Over what is left after the sums, or once more over what was summed.
  return reader.loops == Loops::kOfEachElement && (reader.made == maker.made || reader.made == maker.read);
}

// As TorchInductor's scheduler does: in the order of the calls, a kernel for what waits for the
// same kernels.
class Scheduler {
 public:
  Scheduler(const graph::Graph& graph, const graph::Layout& layout, const MemoryOf& memory_of)
      : graph_(graph), memory_of_(memory_of), calls_(graph.nodes().size()) {
    for (size_t node = 0; node < calls_.size(); ++node) {
      calls_[node].first = node;
      if (!memory_of.IsView(static_cast<int32_t>(node)))
        calls_[node].kernel = KernelOf(graph, layout, graph.nodes()[node]);
    }
    FindReaders();
    for (size_t node = 0; node < calls_.size(); ++node) Join(node, /*scheduled=*/false);
    ComputeWhereRead();
  }

  // By input of the call: whether the kernel of the call makes it.
  std::vector<bool> Fused(size_t node) {
    std::vector<bool> fused = Join(node, /*scheduled=*/true);
    ForEachMaker(node, [&](size_t i, size_t maker) {
      if (fused[i]) {
        const size_t a = FirstOfKernel(maker), b = FirstOfKernel(node);
        calls_[std::max(a, b)].first = std::min(a, b);
      } else {
        Keep(maker);
      }
    });
    return fused;
  }

  bool IsOfLibrary(size_t node) const { return calls_[node].kernel.loops == Loops::kOfLibrary; }
  bool AddsBias(size_t node) const { return calls_[node].adds_bias; }
  bool SumsImage(size_t node) const { return calls_[node].kernel.is_over_image; }

  // REQUIRES, likewise for FirstOfKernel(): Fused() was asked of all calls.
  bool Writes(size_t node) const {
    const Call& call = calls_[node];
    return call.kernel.loops != Loops::kNone && (call.is_kept || call.readers == 0);
  }
  size_t FirstOfKernel(size_t node) {
    while (calls_[node].first != node) node = calls_[node].first = calls_[calls_[node].first].first;
    return node;
  }

 private:
  struct Call {
    Kernel kernel;
    int waits = 0;  // how many kernels must have ended, one after the other
    int readers = 0;
    size_t reader = 0;          // the last one
    size_t first = 0;           // an earlier call of the same kernel, or itself
    bool is_kept = false;       // in memory: for a library or another kernel, or as a result
    bool adds_bias = false;     // of a convolution, in a separate kernel
    int reads = 0, moving = 0;  // tensors, with those of what is computed with it; without weights
    Sums sums;                  // of its kernel
    bool is_repeated = false;   // in another kernel
    bool is_stored = false;     // computed once, as it reads many
    bool has_stored = false;    // in its kernel
  };

  static bool IsSimple(const Call& call) { return call.kernel.loops == Loops::kOfEachElement; }
  // What reads little is computed once more wherever it is read.
  static bool IsRepeated(const Call& call) {
    return IsSimple(call) && !call.is_kept && !call.is_stored && call.moving <= 1;
  }

  // Another kernel needs what the call makes: in memory, or if it is computed there, what it is
  // made of.
  void Keep(size_t node) {
    std::vector<size_t> needed{node};
    while (!needed.empty()) {
      const size_t next = needed.back();
      needed.pop_back();
      Call& call = calls_[next];
      if (!IsRepeated(call)) {
        call.is_kept = true;
      } else if (!std::exchange(call.is_repeated, true)) {
        ForEachMaker(next, [&needed](size_t, size_t maker) { needed.push_back(maker); });
      }
    }
  }

  // -1: it is an argument of the network.
  int32_t MakerOf(const graph::ValueRef& value) const {
    const graph::ValueRef tensor = memory_of_(value);
    return tensor.is_node() ? tensor.index : -1;
  }

  // `visit(input, maker)`, of each tensor that a call makes.
  template <typename Visit>
  void ForEachMaker(size_t node, const Visit& visit) const {
    if (calls_[node].kernel.loops == Loops::kNone) return;
    const graph::ValueRefs& inputs = graph_.nodes()[node].inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (const int32_t maker = MakerOf(inputs[i]); maker >= 0) visit(i, static_cast<size_t>(maker));
    }
  }

  void FindReaders() {
    for (size_t node = 0; node < calls_.size(); ++node) {
      const Loops loops = calls_[node].kernel.loops;
      const bool needs_memory = loops == Loops::kOfLibrary || loops == Loops::kOfWindows;
      const int times = absl::c_linear_search(kReadTwice, graph_.nodes()[node].op) ? 2 : 1;
      ForEachMaker(node, [&](size_t, size_t maker) {
        calls_[maker].readers += times;
        calls_[maker].reader = node;
        calls_[maker].is_kept = calls_[maker].is_kept || needs_memory;
      });
    }
    for (const graph::ValueRef& output : graph_.outputs()) {
      if (const int32_t maker = MakerOf(output); maker >= 0) calls_[static_cast<size_t>(maker)].is_kept = true;
    }
    for (size_t node = 0; node < calls_.size(); ++node) {
      const graph::Node& call = graph_.nodes()[node];
      calls_[node].adds_bias =
          calls_[node].is_kept && IsConvolution(call) && call.inputs.size() > 2 && !call.inputs[2].is_none();
    }
  }

  bool MayJoin(const Call& maker, const Call& reader) const {
    if (!AreOneKernel(maker.kernel, reader.kernel)) return false;
    if (reader.kernel.is_over_image && maker.has_stored) return false;
    return maker.sums.rows == 0 || reader.sums.rows == 0 || maker.sums == reader.sums;
  }

  // Which tensors the call's kernel makes, so far. Not `scheduled`: finds for which kernels the
  // call waits.
  std::vector<bool> Join(size_t node, bool scheduled) {
    Call& call = calls_[node];
    const graph::ValueRefs& inputs = graph_.nodes()[node].inputs;
    std::vector<bool> joined(inputs.size());
    call.reads = call.moving = 0;
    for (const graph::ValueRef& input : inputs) {
      const bool is_weight = input.kind == graph::ValueRef::Kind::kParameter;
      call.reads += input.is_none() ? 0 : 1;
      call.moving += input.is_none() || is_weight ? 0 : 1;
    }
    call.sums = call.kernel.sums;
    call.has_stored = false;
    ForEachMaker(node, [&](size_t i, size_t other) {
      const Call& maker = calls_[other];
      joined[i] = (!scheduled || maker.waits == call.waits) && MayJoin(maker, call);
      if (!scheduled) call.waits = std::max(call.waits, maker.waits + (joined[i] ? 0 : 1));
      if (joined[i] && call.sums.rows == 0) call.sums = maker.sums;
      if (joined[i]) call.has_stored = call.has_stored || maker.has_stored;
      if (!maker.is_stored && IsSimple(maker) && (joined[i] || IsRepeated(maker))) {
        call.reads = std::min(call.reads + maker.reads - 1, kMostReads + 1);
        call.moving = std::min(call.moving + maker.moving - 1, kMostReads + 1);
      }
    });
    call.is_stored = IsSimple(call) && ((call.readers > 1 && call.reads > kFewReads) || call.reads > kMostReads);
    call.has_stored = call.has_stored || call.is_stored;
    return joined;
  }

  // What one call alone reads is computed there.
  void ComputeWhereRead() {
    for (size_t node = calls_.size(); node-- > 0;) {
      Call& call = calls_[node];
      if (!IsSimple(call) || call.readers != 1 || call.is_kept) continue;
      const Call& reader = calls_[call.reader];
      if (MayJoin(call, reader)) call.waits = reader.waits;
    }
  }

  const graph::Graph& graph_;
  const MemoryOf& memory_of_;
  std::vector<Call> calls_;
};

}  // namespace

MemoryOf::MemoryOf(const graph::Graph& graph, const graph::Layout& layout) : shown_(graph.nodes().size()) {
  for (size_t node = 0; node < shown_.size(); ++node) {
    const graph::Node& call = graph.nodes()[node];
    const bool is_view = graph::IsAlias(graph, call) || (graph::IsView(call) && !layout.copies[node]);
    if (is_view && !call.inputs.empty()) shown_[node] = (*this)(call.inputs[0]);
  }
}

Fusion::Fusion(const graph::Graph& graph, const graph::Layout& layout, const MemoryOf& memory_of) {
  const size_t calls = graph.nodes().size();
  Scheduler scheduler(graph, layout, memory_of);
  for (size_t node = 0; node < calls; ++node) {
    fused_.push_back(scheduler.Fused(node));
    is_of_library_.push_back(scheduler.IsOfLibrary(node));
    adds_bias_.push_back(scheduler.AddsBias(node));
    sums_image_.push_back(scheduler.SumsImage(node));
  }
  launches_.resize(calls);
  for (size_t node = 0; node < calls; ++node) {
    writes_.push_back(scheduler.Writes(node));
    if (writes_[node]) launches_[scheduler.FirstOfKernel(node)] = true;
  }
}

}  // namespace cobra::predict
