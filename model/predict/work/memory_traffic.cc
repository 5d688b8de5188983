#include "model/predict/work/memory_traffic.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "graph/cost/cost.h"
#include "graph/cost/distinct_inputs.h"
#include "graph/cost/touched_bytes.h"

namespace cobra::predict {
namespace {

// Of what was touched this many caches ago, nothing is missing yet, and nothing is left: a cache
// does not keep exactly what was used last, and is not all of the network's.
constexpr double kAllHeld = 0.5, kNoneHeld = 1.5;

int64_t Rounded(double bytes) {
  constexpr double kMost = 1e18;
  return std::llround(std::min(bytes, kMost));
}

class Reuse {
 public:
  Reuse(const graph::Graph& graph, const MemoryOf& memory_of, double cache_bytes, const Fusion* fusion)
      : graph_(graph), cache_bytes_(cache_bytes), fusion_(fusion), memory_of_(memory_of) {}

  // Of the second of two runs; the first one leaves the cache as a run finds it.
  std::vector<Traffic> SecondRun() {
    const auto calls = static_cast<int32_t>(graph_.nodes().size());
    for (int32_t node = 0; node < calls; ++node) Call(node);
    std::vector<Traffic> traffic;
    for (int32_t node = 0; node < calls; ++node) traffic.push_back(InBytes(node, Call(node)));
    return traffic;
  }

 private:
  using Key = std::tuple<graph::ValueRef::Kind, int32_t, int32_t>;
  struct Tensor {
    double touched = -std::numeric_limits<double>::infinity();  // when it was, in bytes that were touched before
    double written = 0;
    double lives = 0;  // from when it is written until it is read for the last time
  };
  // What a call moves of some of its tensors: shares of their sizes.
  struct Moved {
    double bytes = 0, moved = 0, missed = 0;
    double part(double of) const { return bytes > 0 ? of / bytes : 0; }
  };

  struct MovedByCall {
    Moved activations, weights, results;
  };

  MovedByCall Call(int32_t node) {
    const graph::Node& call = graph_.nodes()[static_cast<size_t>(node)];
    if (memory_of_.IsView(node)) return {};
    MovedByCall by_call;
    for (const size_t i : graph::DistinctInputs(call)) {
      const graph::ValueRef& input = call.inputs[i];
      Moved& moved = IsActivation(input) ? by_call.activations : by_call.weights;
      const auto bytes = static_cast<double>(graph::BytesRead(graph_, call, i));
      moved.bytes += bytes;
      if (fusion_ == nullptr || fusion_->Reads(node, i)) Read(input, bytes, &moved);
    }
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      const auto bytes = static_cast<double>(graph::BytesWritten(graph_, call, i));
      by_call.results.bytes += bytes;
      if (fusion_ == nullptr || fusion_->Writes(node))
        Write(graph::ValueRef::Node(node, static_cast<int32_t>(i)), bytes, &by_call.results);
    }
    return by_call;
  }

  // A call that is given a tensor twice reads it for each of its arguments.
  Traffic InBytes(int32_t node, const MovedByCall& by_call) const {
    const auto& [activations, weights, results] = by_call;
    if (graph::IsView(graph_.nodes()[static_cast<size_t>(node)]))  // which copies
      return {Rounded(activations.moved + weights.moved + results.moved),
              Rounded(activations.missed + weights.missed + results.missed)};
    const graph::NodeCost cost = graph::CostOf(graph_, node);
    const auto input = static_cast<double>(cost.input_bytes), weight = static_cast<double>(cost.weight_bytes),
               output = static_cast<double>(cost.output_bytes);
    return {Rounded(activations.part(activations.moved) * input + weights.part(weights.moved) * weight +
                    results.part(results.moved) * output),
            Rounded(activations.part(activations.missed) * input + weights.part(weights.missed) * weight +
                    results.part(results.missed) * output)};
  }

  static bool IsActivation(const graph::ValueRef& value) {
    return value.is_node() || value.kind == graph::ValueRef::Kind::kInput;
  }

  // Of a table the rows that the call asks: the next run asks the same ones, or others as seldom.
  void Read(const graph::ValueRef& value, double bytes, Moved* moved) {
    Tensor& tensor = tensors_[KeyOf(value)];
    moved->moved += bytes;
    moved->missed += bytes * Missing(now_ - tensor.touched + bytes);
    now_ += bytes;
    tensor.touched = now_;
    tensor.lives = now_ - tensor.written;
  }

  // PyTorch's allocator gives freed memory to the next tensor of the size. So what lives shortly is
  // written over before it leaves the cache.
  void Write(const graph::ValueRef& value, double bytes, Moved* moved) {
    Tensor& tensor = tensors_[KeyOf(value)];
    moved->moved += bytes;
    moved->missed += bytes * Missing(tensor.lives + bytes);
    now_ += bytes;
    tensor.touched = tensor.written = now_;
  }

  // The share of a tensor that is no longer there after so many bytes.
  double Missing(double distance) const {
    return std::clamp((distance / cache_bytes_ - kAllHeld) / (kNoneHeld - kAllHeld), 0.0, 1.0);
  }

  Key KeyOf(const graph::ValueRef& value) const {
    const graph::ValueRef tensor = memory_of_(value);
    return {tensor.kind, tensor.index, tensor.output};
  }

  const graph::Graph& graph_;
  const double cache_bytes_;
  const Fusion* const fusion_;
  const MemoryOf& memory_of_;
  double now_ = 0;  // bytes that were touched since the beginning
  absl::flat_hash_map<Key, Tensor> tensors_;
};

}  // namespace

std::vector<Traffic> TrafficOf(const graph::Graph& graph, const MemoryOf& memory_of, double cache_bytes,
                               const Fusion* fusion) {
  return Reuse(graph, memory_of, cache_bytes, fusion).SecondRun();
}

}  // namespace cobra::predict
