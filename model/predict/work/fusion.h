// Which calls of a network a compiler (TorchInductor) fuses into one kernel: elementwise calls join
// whatever reads them, and follow whatever reduces; convolutions, products and sorts are kernels of
// libraries. What passes between the calls of one kernel does not go through memory. (Ansel et al.,
// "PyTorch 2", ASPLOS 2024, section 4.)
#ifndef COBRA_MODEL_PREDICT_WORK_FUSION_H_
#define COBRA_MODEL_PREDICT_WORK_FUSION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "graph/shape/layout.h"

namespace cobra::predict {

// Whose memory a tensor is in, through any number of views.
class MemoryOf {
 public:
  explicit MemoryOf(const graph::Graph& graph) : MemoryOf(graph, graph::ComputeLayout(graph)) {}
  MemoryOf(const graph::Graph& graph, const graph::Layout& layout);
  graph::ValueRef operator()(const graph::ValueRef& value) const {
    return value.is_node() && IsView(value.index) ? shown_[static_cast<size_t>(value.index)] : value;
  }
  // Whether the call only shows what is in memory: a view, unless the strides make it copy.
  bool IsView(int32_t node) const { return !shown_[static_cast<size_t>(node)].is_none(); }

 private:
  std::vector<graph::ValueRef> shown_;  // by call: of a view, what it shows; else none
};

class Fusion {
 public:
  Fusion(const graph::Graph& graph, const graph::Layout& layout, const MemoryOf& memory_of);

  // Whether the call reads its `input`-th tensor from memory.
  bool Reads(int32_t node, size_t input) const { return !fused_[static_cast<size_t>(node)][input]; }
  // Whether its results are in memory.
  bool Writes(int32_t node) const { return writes_[static_cast<size_t>(node)]; }
  // Whether it is a kernel of a library, which is never part of another.
  bool IsOfLibrary(int32_t node) const { return is_of_library_[static_cast<size_t>(node)]; }
  // Whether its bias is added by a kernel besides it (of a convolution, unless what reads it adds
  // the bias, too).
  bool AddsBias(int32_t node) const { return adds_bias_[static_cast<size_t>(node)]; }
  // Whether it sums pixels of an image whose channels are last.
  bool SumsImage(int32_t node) const { return sums_image_[static_cast<size_t>(node)]; }
  // Whether a kernel begins with it.
  bool Launches(int32_t node) const { return launches_[static_cast<size_t>(node)]; }

 private:
  std::vector<std::vector<bool>> fused_;  // by call and input: with the call that makes it
  std::vector<bool> writes_, launches_, is_of_library_, adds_bias_, sums_image_;
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_WORK_FUSION_H_
