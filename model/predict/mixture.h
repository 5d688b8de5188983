// Combines the predictions of several trained targets for one network on a device that they explain
// together.
#ifndef COBRA_MODEL_PREDICT_MIXTURE_H_
#define COBRA_MODEL_PREDICT_MIXTURE_H_

#include <vector>

#include "model/predict/price/prediction.h"

namespace cobra::predict {

struct WeightedPrediction {
  double weight = 0;
  LatencyPrediction prediction;
};

// The logarithms of latency and interval are the weighted means; a call's share of the latency is
// the weighted mean of its shares. Reasons are those of the first prediction. It extrapolates if
// its known share is below `extrapolating_below`. REQUIRES: at least one, of the same graph; the
// weights add up to 1.
LatencyPrediction Mixture(std::vector<WeightedPrediction> predictions, double extrapolating_below);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_MIXTURE_H_
