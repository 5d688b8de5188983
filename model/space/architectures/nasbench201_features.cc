#include "model/space/architectures/nasbench201_features.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/status_macros.h"

namespace cobra::space {
namespace {

using Cell = nas::Nasbench201Cell;
constexpr int kNodes = Cell::kNodes, kOperations = Cell::kOperations;

using Path = std::vector<int>;  // operations from input to output

// Every path of the pruned cell.
std::vector<Path> PathsOf(const Cell& cell) {
  std::vector<std::vector<Path>> to_node(kNodes);
  to_node[0].push_back({});
  for (int to = 1; to < kNodes; ++to) {
    for (int from = 0; from < to; ++from) {
      if (!cell.runs[to][from]) continue;
      for (Path path : to_node[static_cast<size_t>(from)]) {
        path.push_back(cell.edge[to][from]);
        to_node[static_cast<size_t>(to)].push_back(std::move(path));
      }
    }
  }
  return to_node[kNodes - 1];
}

// Gives every path a unique number from 0 on: its operations from `lowest` on are the digits 1 to
// `digits`.
size_t IndexOf(const Path& path, size_t digits, int lowest) {
  size_t index = 0;
  for (int operation : path) {
    if (operation >= lowest) index = index * digits + static_cast<size_t>(operation - lowest + 1);
  }
  return index;
}

std::vector<double> LongestOf(const std::vector<Path>& paths) {
  constexpr std::array<double, kOperations> kWeight = {0, 0.001, 1, 4, 0.5};
  std::vector<double> most(6, 0);
  for (const Path& path : paths) {
    std::array<double, kOperations> count{};
    double weight = 0;
    for (int operation : path) {
      count[static_cast<size_t>(operation)] += 1;
      weight += kWeight[static_cast<size_t>(operation)];
    }
    const std::array<double, 5> figures = {count[Cell::kConv1x1], count[Cell::kConv3x3], count[Cell::kAvgPool], weight,
                                           static_cast<double>(path.size()) - count[Cell::kSkip]};
    for (size_t i = 0; i < figures.size(); ++i) most[i] = std::max(most[i], figures[i]);
  }
  most[5] = static_cast<double>(paths.size());
  return most;
}

// [depth][operation except none]: the depth is the largest number of operations other than skips
// before the operation.
std::vector<double> DepthsOf(const Cell& cell) {
  std::vector<double> counts(12, 0);
  std::array<int, kNodes> deepest{};
  for (int to = 1; to < kNodes; ++to) {
    for (int from = 0; from < to; ++from) {
      if (!cell.runs[to][from]) continue;
      const int depth = deepest[static_cast<size_t>(from)], operation = cell.edge[to][from];
      counts[static_cast<size_t>(depth * 4 + operation - 1)] += 1;
      deepest[static_cast<size_t>(to)] =
          std::max(deepest[static_cast<size_t>(to)], depth + (operation == Cell::kSkip ? 0 : 1));
    }
  }
  return counts;
}

// The number of terms of the sums at nodes 1 to 3, and of readers of nodes 0 to 2.
std::vector<double> JoinsOf(const Cell& cell) {
  std::vector<double> joins(6, 0);
  for (int to = 1; to < kNodes; ++to) {
    for (int from = 0; from < to; ++from) {
      if (!cell.runs[to][from]) continue;
      joins[static_cast<size_t>(to - 1)] += 1;
      joins[static_cast<size_t>(3 + from)] += 1;
    }
  }
  return joins;
}

}  // namespace

absl::StatusOr<nas::Nasbench201Cell> PrunedCell(const std::string& arch) {
  COBRA_ASSIGN_OR_RETURN(Cell cell, nas::ReadNasbench201Cell(arch));
  (void)nas::Prune(&cell);  // a cell without a path runs nothing
  return cell;
}

absl::StatusOr<std::vector<double>> Nasbench201Counts(const std::string& arch) {
  COBRA_ASSIGN_OR_RETURN(const Cell cell, PrunedCell(arch));
  std::vector<double> counts(kOperations, 0);
  for (int to = 1; to < kNodes; ++to) {
    for (int from = 0; from < to; ++from) {
      if (cell.runs[to][from]) counts[cell.edge[to][from]] += 1;
    }
  }
  return counts;
}

absl::StatusOr<std::vector<std::vector<double>>> Nasbench201Groups(const std::string& arch) {
  COBRA_ASSIGN_OR_RETURN(Cell cell, PrunedCell(arch));
  cell = nas::Canonical(cell);
  COBRA_ASSIGN_OR_RETURN(std::vector<double> operations, Nasbench201Counts(arch));
  operations.erase(operations.begin());  // none, which never runs
  const std::vector<Path> paths = PathsOf(cell);
  std::vector<double> without_skips(40, 0), with_skips(85, 0);
  for (const Path& path : paths) {
    without_skips[IndexOf(path, 3, Cell::kConv1x1)] += 1;
    with_skips[IndexOf(path, 4, Cell::kSkip)] += 1;
  }
  const std::vector<double> joins = JoinsOf(cell);
  double additions = 0;
  for (size_t node = 0; node < 3; ++node) additions += std::max(0.0, joins[node] - 1);
  return std::vector<std::vector<double>>{operations,     without_skips, joins,      LongestOf(paths),
                                          DepthsOf(cell), with_skips,    {additions}};
}

}  // namespace cobra::space
