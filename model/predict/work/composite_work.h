// Calls that PyTorch composes of several kernels, each of which is launched and moves its own
// tensors: losses, distances, norms of a dimension, multi-head attention. Counted from PyTorch's
// sources (ATen/native/Loss.cpp, Distance.cpp, ReduceOps.cpp, Activation; torch/nn/functional.py)
// with its profiler.
#ifndef COBRA_MODEL_PREDICT_WORK_COMPOSITE_WORK_H_
#define COBRA_MODEL_PREDICT_WORK_COMPOSITE_WORK_H_

#include <cstdint>
#include <optional>

#include "graph/graph.h"

namespace cobra::predict {

struct CompositeWork {
  int64_t kernels = 1;      // that are launched
  int64_t moved_bytes = 0;  // intermediate results, written and read, and arguments that are read once more
  int64_t operations = 0;   // that are not multiply-accumulates
};
// nullopt for a call that is one kernel.
std::optional<CompositeWork> CompositeWorkOf(const graph::Graph& graph, const graph::Node& node);

// Elements of the scores of scaled_dot_product_attention: one for each query and key. REQUIRES: two
// dimensions or more.
int64_t AttentionScores(const graph::Shape& query, const graph::Shape& key);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_WORK_COMPOSITE_WORK_H_
