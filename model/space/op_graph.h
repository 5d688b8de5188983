// A cell or a network of a search space as a graph whose nodes are operations; what the networks of model/space read.
#ifndef COBRA_MODEL_SPACE_OP_GRAPH_H_
#define COBRA_MODEL_SPACE_OP_GRAPH_H_

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

// How a cell of NAS-Bench-201 is drawn.
struct CellForm {
  bool pruned = false;         // what is on no path from input to output is left out, `none` with it
  bool contract_skip = false;  // BRP-NAS: a skip connection is an edge, not a node
  bool empty = false;          // of a pruned cell without a path: input and output, not connected, instead of an error
  static constexpr int kKinds = 7;  // the five operations, input, output
  static constexpr int kInput = 5, kOutput = 6;
};
// The first node is the input, the last the output. Cells that differ only in the names of their inner nodes have the
// same graph. InvalidArgument where the string is no cell, or nothing of it runs.
absl::StatusOr<OpGraph> Nasbench201Graph(absl::string_view arch, const CellForm& form);

// Graphs without their repetitions (many cells of NAS-Bench-201 are the same after pruning): graphs[i] is
// graphs[first[place[i]]].
struct DistinctGraphs {
  std::vector<int64_t> first;  // index of each distinct graph where it comes first
  std::vector<int64_t> place;  // of each graph: index into `first`
};
DistinctGraphs Distinct(const std::vector<OpGraph>& graphs);

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_OP_GRAPH_H_
