// A cell or a network of a search space as a graph whose nodes are operations: the input of the
// networks of model/space.
#ifndef COBRA_MODEL_SPACE_ARCHITECTURES_OP_GRAPH_H_
#define COBRA_MODEL_SPACE_ARCHITECTURES_OP_GRAPH_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::space {

struct OpGraph {
  std::vector<int> kind;                   // of each node, below num_kinds of its space
  std::vector<std::pair<int, int>> edges;  // data flows from first to second
};

// How a cell of NAS-Bench-201 is represented.
struct CellEncoding {
  bool pruned = false;         // without operations on no path from input to output, and without `none`
  bool contract_skip = false;  // BRP-NAS: a skip connection is an edge, not a node
  // For a pruned cell without a path: return unconnected input and output nodes instead of an
  // error.
  bool empty = false;
  static constexpr int kKinds = 7;  // the five operations, input, output
  static constexpr int kInput = 5, kOutput = 6;
};
// The first node is the input, the last the output. Cells that differ only in the names of their
// inner nodes have the same graph. InvalidArgument if the string is not a cell, or if nothing of it
// runs.
absl::StatusOr<OpGraph> Nasbench201Graph(absl::string_view arch, const CellEncoding& form);

// Removes duplicate graphs (many cells of NAS-Bench-201 are equal after pruning): graphs[i] equals
// graphs[first[place[i]]].
struct DistinctGraphs {
  std::vector<int64_t> first;  // index of the first occurrence of each distinct graph
  std::vector<int64_t> place;  // of each graph: index into `first`
};
DistinctGraphs Distinct(const std::vector<OpGraph>& graphs);

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_ARCHITECTURES_OP_GRAPH_H_
