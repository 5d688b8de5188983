// What PyTorch does on a GPU for a scaled_dot_product_attention that no fused kernel computes.
#ifndef COBRA_MODEL_PREDICT_WORK_ATTENTION_WORK_H_
#define COBRA_MODEL_PREDICT_WORK_ATTENTION_WORK_H_

#include <cstdint>

#include "graph/graph.h"
#include "graph/shape/layout.h"

namespace cobra::predict {

// Whether it is composed of products and a softmax
// (aten/src/ATen/native/transformers/cuda/sdp_utils.cpp): tensors that have not four dimensions
// (windows beside heads), keys of fewer heads than queries, and, unless a compiler makes them so
// first, tensors whose last dimension does not lie innermost.
bool IsPlainAttention(const graph::Graph& graph, const graph::Layout& layout, const graph::Node& call, bool fuses);

struct AttentionWork {
  int64_t kernels = 0;      // besides the two products
  int64_t moved_bytes = 0;  // by them, and of the scores by the products
  int64_t operations = 0;   // of the products, where no tensor core does them
};
// The scores, and queries and keys that are scaled. `in_float32`: that computes so although the
// network is in half precision, as since PyTorch 2.5; then casts are added, and what is wide counts
// twice (the bytes of a graph are those of float32, whatever a target computes in). `fuses`: a
// compiler scales, casts and adds masks in one loop each.
AttentionWork PlainAttentionWork(const graph::Graph& graph, int32_t node, bool in_float32, bool fuses);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_WORK_ATTENTION_WORK_H_
