// Plain features of a cell of NAS-Bench-201, for lines, trees and look-up tables.
#ifndef COBRA_MODEL_SPACE_NASBENCH201_FEATURES_H_
#define COBRA_MODEL_SPACE_NASBENCH201_FEATURES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace cobra::space {

// One-hot operations of its six edges (30).
absl::StatusOr<std::vector<double>> Nasbench201OneHot(const std::string& arch);
// The same of the pruned cell, how often each operation runs, terms of each sum, and of the longest path to the output
// by operation (trees).
absl::StatusOr<std::vector<double>> Nasbench201PathFeatures(const std::string& arch);
// How often each operation runs in the pruned cell (layer-wise: a look-up table fitted to the samples).
absl::StatusOr<std::vector<double>> Nasbench201Counts(const std::string& arch);

// What a Gaussian process compares cells by (feature_process.h). All of the pruned cell, and the same for cells that
// differ in the names of their inner nodes only.
//   0 operations  how often each runs                                             4
//   1 short       paths from input to output, by their operations without skips  40
//   2 joins       terms of each node's sum, readers of each node                  6
//   3 longest     most 1x1, 3x3, poolings on a path; weighted; without skips; how many paths    6
//   4 depth       operations by how many lie before them                         12
//   5 paths       as 1, with skips                                               85
//   6 additions                                                                   1
absl::StatusOr<std::vector<std::vector<double>>> Nasbench201Groups(const std::string& arch);

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_NASBENCH201_FEATURES_H_
