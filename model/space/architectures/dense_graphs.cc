#include "model/space/architectures/dense_graphs.h"

#include <algorithm>

namespace cobra::space {

DenseGraphs DenseGraphs::Select(const at::Tensor& index) const {
  return {kinds.index_select(0, index), adjacency.index_select(0, index), present.index_select(0, index)};
}

DenseGraphs MakeDense(const std::vector<OpGraph>& graphs, int num_kinds) {
  size_t most = 1;
  for (const OpGraph& g : graphs) most = std::max(most, g.kind.size());
  const auto count = static_cast<int64_t>(graphs.size()), nodes = static_cast<int64_t>(most);
  DenseGraphs dense{at::zeros({count, nodes, num_kinds}), at::zeros({count, nodes, nodes}), at::zeros({count, nodes})};
  auto kinds = dense.kinds.accessor<float, 3>();
  auto adjacency = dense.adjacency.accessor<float, 3>();
  auto present = dense.present.accessor<float, 2>();
  for (int64_t g = 0; g < count; ++g) {
    const OpGraph& graph = graphs[static_cast<size_t>(g)];
    for (size_t n = 0; n < graph.kind.size(); ++n) {
      kinds[g][static_cast<int64_t>(n)][graph.kind[n]] = 1;
      present[g][static_cast<int64_t>(n)] = 1;
    }
    for (const auto& [from, to] : graph.edges) adjacency[g][to][from] = 1;
  }
  return dense;
}

}  // namespace cobra::space
