// Small graphs of one space as dense tensors, padded to the largest: their matrices are so small
// that sparse ones would cost more. Includes LibTorch headers.
#ifndef COBRA_MODEL_SPACE_ARCHITECTURES_DENSE_GRAPHS_H_
#define COBRA_MODEL_SPACE_ARCHITECTURES_DENSE_GRAPHS_H_

#include <torch/types.h>

#include <vector>

#include "model/space/architectures/op_graph.h"

namespace cobra::space {

struct DenseGraphs {
  at::Tensor kinds;      // [graphs, nodes, kinds] one-hot; 0 if there is no node
  at::Tensor adjacency;  // [graphs, nodes, nodes]: 1 at [to, from] for each edge
  at::Tensor present;    // [graphs, nodes] 1 or 0

  int64_t size() const { return kinds.size(0); }
  DenseGraphs Select(const at::Tensor& index) const;
};
DenseGraphs MakeDense(const std::vector<OpGraph>& graphs, int num_kinds);

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_ARCHITECTURES_DENSE_GRAPHS_H_
