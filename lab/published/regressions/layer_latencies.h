// The latency of each call of a network by itself: from a look-up table of layers measured alone if
// it has the call (as in nn-Meter and ProxylessNAS), otherwise predicted by boosted trees on shapes
// and costs, fitted to that table's training rows.
#ifndef COBRA_LAB_PUBLISHED_REGRESSIONS_LAYER_LATENCIES_H_
#define COBRA_LAB_PUBLISHED_REGRESSIONS_LAYER_LATENCIES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "lab/published/regressions/boosted_trees.h"
#include "model/training/rows/dataset.h"

namespace cobra::lab {

struct LayerLatencies {
  // [network][call], microseconds; 0 for views and aliases.
  std::vector<std::vector<double>> looked_up;  // measured, or else predicted
  std::vector<std::vector<double>> predicted;  // by the trees, all of them
  std::vector<double> measured_share;          // [network] of the sum of `looked_up`
};
absl::StatusOr<LayerLatencies> EstimateLayerLatencies(const training::Dataset& data,
                                                      const std::vector<const training::Sample*>& networks,
                                                      const TreeOptions& trees);

// A common factor for sums, the median ratio over training networks: COBRA, section 4.
double FitSumScale(const std::vector<double>& sums, const std::vector<double>& measured);

}  // namespace cobra::lab

#endif  // COBRA_LAB_PUBLISHED_REGRESSIONS_LAYER_LATENCIES_H_
