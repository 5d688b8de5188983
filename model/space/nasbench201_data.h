// The rows of table nasbench201 in every form that its methods read, and its splits. Shows LibTorch.
#ifndef COBRA_MODEL_SPACE_NASBENCH201_DATA_H_
#define COBRA_MODEL_SPACE_NASBENCH201_DATA_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/space/arch_rows.h"
#include "model/space/dense_graphs.h"
#include "model/space/feature_process.h"
#include "model/space/op_graph.h"
#include "model/space/space_fit.h"

namespace cobra::space {

// Of architectures, what our method reads: pruned cells, each once.
struct PrunedCells {
  DistinctGraphs distinct;
  DenseGraphs graphs;        // of the distinct ones
  DenseGraphs described;     // the same; operations described by what they are, not by a number each
  ProcessFeatures features;  // of the distinct ones

  SpaceRowSet Places(const SpaceRowSet& rows) const;  // indices of architectures -> of distinct ones
  std::vector<double> Spread(const std::vector<double>& of_distinct) const;  // one number an architecture again
};
// A cell without a path counts as input and output alone.
absl::StatusOr<PrunedCells> MakePrunedCells(const std::vector<std::string>& archs);
// What BRP-NAS reads.
absl::StatusOr<DenseGraphs> MakeContractedCells(const std::vector<std::string>& archs);

struct Nasbench201Data {
  ArchRows rows;
  PrunedCells cells;
  DenseGraphs contracted;
  std::vector<std::vector<double>> one_hot, counts, paths;
};
// `folder`: data/tables/nasbench201.
absl::StatusOr<Nasbench201Data> LoadNasbench201(const std::string& folder);

struct SpaceSplit {
  SpaceRowSet train, validation, test;
};
// `file` says which rows are for training and validation; the rest, as far as the device has them, are test rows.
// Errors name the file and its line.
absl::StatusOr<SpaceSplit> LoadSpaceSplit(const std::string& file, const ArchRows& rows, size_t device);

// All 15,625 cells.
std::vector<std::string> AllNasbench201();

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_NASBENCH201_DATA_H_
