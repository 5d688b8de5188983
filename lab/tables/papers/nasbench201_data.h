// The rows of table nasbench201 in the input format of each method, and its splits. Includes
// LibTorch headers.
#ifndef COBRA_LAB_TABLES_PAPERS_NASBENCH201_DATA_H_
#define COBRA_LAB_TABLES_PAPERS_NASBENCH201_DATA_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/space/architectures/arch_rows.h"
#include "model/space/architectures/dense_graphs.h"
#include "model/space/models/pruned_cells.h"
#include "model/space/models/space_fit.h"

namespace cobra::lab {

// The input of BRP-NAS.
absl::StatusOr<space::DenseGraphs> MakeContractedCells(const std::vector<std::string>& archs);

struct Nasbench201Data {
  space::ArchRows rows;
  space::PrunedCells cells;
  space::DenseGraphs described;  // cells.graphs; with descriptive features of operations instead of one-hot kinds
  space::DenseGraphs contracted;
  // For linear models, trees and look-up tables: one-hot operations of the six edges (30 numbers);
  // how often each operation runs in the pruned cell; and the pruned cell's edges, operations,
  // terms of each sum and longest path.
  std::vector<std::vector<double>> one_hot, counts, paths;
};
// `folder`: lab/data/nasbench201.
absl::StatusOr<Nasbench201Data> LoadNasbench201(const std::string& folder);

struct SpaceSplit {
  space::SpaceRowSet train, validation, test;
};
// `file` lists the rows for training and validation; all other rows of the device are test rows.
// Errors name the file and its line.
absl::StatusOr<SpaceSplit> LoadSpaceSplit(const std::string& file, const space::ArchRows& rows, size_t device);

// All 15,625 cells.
std::vector<std::string> AllNasbench201();

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_PAPERS_NASBENCH201_DATA_H_
