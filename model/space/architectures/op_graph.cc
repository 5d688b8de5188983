#include "model/space/architectures/op_graph.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/nas/nasbench201_cell.h"

namespace cobra::space {
namespace {

using Cell = nas::Nasbench201Cell;

// Removes a node; its readers read its inputs instead.
void Contract(OpGraph* graph, int node) {
  std::vector<std::pair<int, int>> edges;
  const auto renumbered = [node](int n) { return n > node ? n - 1 : n; };
  for (const auto& [from, to] : graph->edges) {
    if (from == node) continue;
    if (to != node) {
      edges.emplace_back(renumbered(from), renumbered(to));
      continue;
    }
    for (const auto& [reader_from, reader] : graph->edges) {
      if (reader_from == node) edges.emplace_back(renumbered(from), renumbered(reader));
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  graph->edges = std::move(edges);
  graph->kind.erase(graph->kind.begin() + node);
}

}  // namespace

absl::StatusOr<OpGraph> Nasbench201Graph(absl::string_view arch, const CellEncoding& form) {
  COBRA_ASSIGN_OR_RETURN(Cell cell, nas::ReadNasbench201Cell(arch));
  if (form.pruned && !nas::Prune(&cell) && !form.empty) {
    return absl::InvalidArgumentError(absl::StrCat(
        arch, ": no path leads from the cell's input to its output; such a cell runs in nasbench201 only"));
  }
  cell = nas::Canonical(cell);
  OpGraph graph;
  int node_of[Cell::kNodes][Cell::kNodes] = {};
  graph.kind.push_back(CellEncoding::kInput);
  for (int to = 1; to < Cell::kNodes; ++to) {
    for (int from = 0; from < to; ++from) {
      if (!cell.runs[to][from]) continue;
      node_of[to][from] = static_cast<int>(graph.kind.size());
      graph.kind.push_back(cell.edge[to][from]);
    }
  }
  const int output = static_cast<int>(graph.kind.size());
  graph.kind.push_back(CellEncoding::kOutput);
  for (int to = 1; to < Cell::kNodes; ++to) {
    for (int from = 0; from < to; ++from) {
      if (!cell.runs[to][from]) continue;
      if (from == 0) graph.edges.emplace_back(0, node_of[to][from]);
      if (to == Cell::kNodes - 1) graph.edges.emplace_back(node_of[to][from], output);
      for (int next = to + 1; next < Cell::kNodes; ++next) {
        if (cell.runs[next][to]) graph.edges.emplace_back(node_of[to][from], node_of[next][to]);
      }
    }
  }
  for (int node = output - 1; form.contract_skip && node > 0; --node) {
    if (graph.kind[static_cast<size_t>(node)] == Cell::kSkip) Contract(&graph, node);
  }
  return graph;
}

DistinctGraphs Distinct(const std::vector<OpGraph>& graphs) {
  DistinctGraphs result;
  std::map<std::pair<std::vector<int>, std::vector<std::pair<int, int>>>, int64_t> seen;
  for (size_t i = 0; i < graphs.size(); ++i) {
    const auto [entry, fresh] =
        seen.emplace(std::make_pair(graphs[i].kind, graphs[i].edges), static_cast<int64_t>(result.first.size()));
    if (fresh) result.first.push_back(static_cast<int64_t>(i));
    result.place.push_back(entry->second);
  }
  return result;
}

}  // namespace cobra::space
