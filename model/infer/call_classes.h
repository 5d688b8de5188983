// Calls of a network that are alike: what is computed of one holds for all of them.
#ifndef COBRA_MODEL_INFER_CALL_CLASSES_H_
#define COBRA_MODEL_INFER_CALL_CLASSES_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace cobra::infer {

// Calls whose states are the same, bit for bit, at one depth of a graph network: a state is
// computed once a class.
struct CallClasses {
  std::vector<int32_t> of_call;
  std::vector<int32_t> first;  // of each class, its first call

  int64_t size() const { return static_cast<int64_t>(first.size()); }
};

// The neighbours of each call, in the order of the edges: sums of floats depend on their order.
class Neighbors {
 public:
  Neighbors(absl::Span<const std::pair<int32_t, int32_t>> edges, size_t calls, bool along)
      : begin_(calls + 1), neighbors_(edges.size()) {
    const auto to = [along](const std::pair<int32_t, int32_t>& e) { return along ? e.second : e.first; };
    for (const auto& edge : edges) ++begin_[static_cast<size_t>(to(edge)) + 1];
    for (size_t call = 0; call < calls; ++call) begin_[call + 1] += begin_[call];
    std::vector<int32_t> next(begin_.begin(), begin_.end() - 1);
    for (const auto& edge : edges)
      neighbors_[static_cast<size_t>(next[static_cast<size_t>(to(edge))]++)] = along ? edge.first : edge.second;
  }
  absl::Span<const int32_t> Of(int32_t call) const {
    const auto begin = static_cast<size_t>(begin_[static_cast<size_t>(call)]);
    const auto end = static_cast<size_t>(begin_[static_cast<size_t>(call) + 1]);
    return absl::MakeConstSpan(neighbors_).subspan(begin, end - begin);
  }

 private:
  std::vector<int32_t> begin_, neighbors_;
};

// A class for each layer.
CallClasses ClassesOfLayers(absl::Span<const int32_t> layer_of_call, size_t layers);

// After a round of messages: calls that were alike before it, and so were their neighbours, in
// their order. Each is put into the class of the first call that is like it.
CallClasses Refine(const CallClasses& before, const Neighbors& along, const Neighbors& against);

}  // namespace cobra::infer

#endif  // COBRA_MODEL_INFER_CALL_CLASSES_H_
