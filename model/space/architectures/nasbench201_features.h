// Numeric features of NAS-Bench-201 cells.
#ifndef COBRA_MODEL_SPACE_ARCHITECTURES_NASBENCH201_FEATURES_H_
#define COBRA_MODEL_SPACE_ARCHITECTURES_NASBENCH201_FEATURES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frontend/nas/nasbench201_cell.h"

namespace cobra::space {

// In a cell without a path nothing runs.
absl::StatusOr<nas::Nasbench201Cell> PrunedCell(const std::string& arch);

// How often each operation runs in the pruned cell.
absl::StatusOr<std::vector<double>> Nasbench201Counts(const std::string& arch);

// Features of a cell for a Gaussian process (gaussian_process.h). They describe the pruned cell,
// and are equal for cells that differ only in the names of their inner nodes.
//   0 operations  how often each runs                                             4
//   1 short       paths from input to output, by their operations without skips  40
//   2 joins       terms of each node's sum, readers of each node                  6
//   3 longest     most 1x1, 3x3, poolings on a path; weighted; without skips; how many paths    6
//   4 depth       operations by how many lie before them                         12
//   5 paths       as 1, with skips                                               85
//   6 additions                                                                   1
absl::StatusOr<std::vector<std::vector<double>>> Nasbench201Groups(const std::string& arch);

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_ARCHITECTURES_NASBENCH201_FEATURES_H_
