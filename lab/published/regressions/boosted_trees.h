// XGBoost (Chen and Guistrin, 2016, KDD) on log-latency: the baseline for networks.
#ifndef COBRA_LAB_PUBLISHED_REGRESSIONS_BOOSTED_TREES_H_
#define COBRA_LAB_PUBLISHED_REGRESSIONS_BOOSTED_TREES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "lab/published/regressions/linear.h"

namespace cobra::lab {

struct TreeOptions {
  int trees = 1500, depth = 5;
  double learning_rate = 0.03, subsample = 0.8, columns = 0.8;
  const char* method = "exact";  // how splits are found; "hist" for tens of thousands of rows
  uint64_t seed = 1;
};
// `latency` (any unit) of each row of `train`; returns the same unit for each of `all`.
absl::StatusOr<std::vector<double>> FitTrees(const FeatureRows& train, const std::vector<double>& latency,
                                             const FeatureRows& all, const TreeOptions& options = {});

}  // namespace cobra::lab

#endif  // COBRA_LAB_PUBLISHED_REGRESSIONS_BOOSTED_TREES_H_
