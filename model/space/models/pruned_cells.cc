#include "model/space/models/pruned_cells.h"

#include "base/status_macros.h"
#include "model/space/architectures/nasbench201_features.h"

namespace cobra::space {

SpaceRowSet PrunedCells::Places(const SpaceRowSet& rows) const {
  SpaceRowSet places{{}, rows.latency_ms};
  for (int64_t i : rows.index) places.index.push_back(distinct.place[static_cast<size_t>(i)]);
  return places;
}

std::vector<double> PrunedCells::Spread(const std::vector<double>& of_distinct) const {
  std::vector<double> all;
  for (int64_t place : distinct.place) all.push_back(of_distinct[static_cast<size_t>(place)]);
  return all;
}

absl::StatusOr<PrunedCells> MakePrunedCells(const std::vector<std::string>& archs) {
  CellEncoding form;
  form.pruned = form.empty = true;
  std::vector<OpGraph> graphs;
  for (const std::string& arch : archs) {
    COBRA_ASSIGN_OR_RETURN(graphs.emplace_back(), Nasbench201Graph(arch, form));
  }
  PrunedCells cells;
  cells.distinct = Distinct(graphs);
  std::vector<OpGraph> distinct;
  std::vector<std::vector<std::vector<double>>> features;
  for (int64_t first : cells.distinct.first) {
    distinct.push_back(graphs[static_cast<size_t>(first)]);
    COBRA_ASSIGN_OR_RETURN(features.emplace_back(), Nasbench201Groups(archs[static_cast<size_t>(first)]));
  }
  cells.graphs = MakeDense(distinct, CellEncoding::kKinds);
  cells.features = MakeGaussianProcessFeatures(features, /*linear_group=*/0, /*single_groups=*/5);
  return cells;
}

}  // namespace cobra::space
