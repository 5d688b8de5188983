// What each call of a network takes alone: from a look-up table of layers measured alone where it has the call
// (nn-Meter's and ProxylessNAS' way), else predicted by boosted trees on shapes and costs that were fitted to that
// table's training rows.
#ifndef COBRA_EVALUATION_PUBLISHED_LAYER_PRICES_H_
#define COBRA_EVALUATION_PUBLISHED_LAYER_PRICES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "evaluation/published/boosted_trees.h"
#include "model/fit/dataset.h"

namespace cobra::evaluation {

struct LayerPrices {
  // [network][call], microseconds; 0 for views and for calls that hand their argument on.
  std::vector<std::vector<double>> looked_up;  // measured alone, else predicted
  std::vector<std::vector<double>> predicted;  // by the trees, all of them
  std::vector<double> measured_share;          // [network] of the sum of `looked_up`
};
absl::StatusOr<LayerPrices> PriceLayers(const fit::Dataset& data, const std::vector<const fit::Sample*>& networks,
                                        const TreeOptions& trees);

// One factor on sums, the median ratio of training networks: COBRA, section 4.
double FitSumScale(const std::vector<double>& sums, const std::vector<double>& measured);

}  // namespace cobra::evaluation

#endif  // COBRA_EVALUATION_PUBLISHED_LAYER_PRICES_H_
