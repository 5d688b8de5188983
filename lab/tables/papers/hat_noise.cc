#include "lab/tables/papers/hat_noise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/status_macros.h"

namespace cobra::lab {

absl::StatusOr<HatNoise> MeasureHatNoise(const std::vector<space::HatFeatures>& features,
                                         const std::vector<double>& latency_ms, size_t pairs) {
  COBRA_ASSIGN_OR_RETURN(const space::HatModel law,
                         space::HatModel::Fit(features, {}, latency_ms, {/*use_order=*/false}));
  const std::vector<double> predicted = law.Predict(features, {});
  std::vector<double> residual;
  for (size_t i = 0; i < predicted.size(); ++i) residual.push_back(std::log(latency_ms[i] / predicted[i]));
  space::HatFeatures scale{};
  for (size_t f = 0; f < space::kHatFeatures; ++f) {
    double mean = 0, variance = 0;
    for (const space::HatFeatures& row : features) mean += row[f] / static_cast<double>(features.size());
    for (const space::HatFeatures& row : features)
      variance += (row[f] - mean) * (row[f] - mean) / static_cast<double>(features.size());
    scale[f] = 1 / std::sqrt(variance + 1e-12);
  }
  std::vector<std::pair<double, double>> distance_and_difference;  // of each row and its nearest one
  for (size_t i = 0; i < features.size(); ++i) {
    std::pair<double, double> nearest{std::numeric_limits<double>::infinity(), 0};
    for (size_t j = 0; j < features.size(); ++j) {
      if (j == i) continue;
      double distance = 0;
      for (size_t f = 0; f < space::kHatFeatures; ++f)
        distance += std::pow((features[i][f] - features[j][f]) * scale[f], 2);
      if (distance < nearest.first) nearest = {distance, std::fabs(residual[i] - residual[j])};
    }
    distance_and_difference.push_back(nearest);
  }
  std::sort(distance_and_difference.begin(), distance_and_difference.end());
  HatNoise noise;
  pairs = std::min(pairs, distance_and_difference.size());
  for (size_t i = 0; i < pairs; ++i)
    noise.alike += distance_and_difference[i].second / std::sqrt(2) / static_cast<double>(pairs);
  for (size_t i = 0; i + 1 < residual.size(); ++i) {
    noise.consecutive +=
        std::fabs(residual[i] - residual[i + 1]) / std::sqrt(2) / static_cast<double>(residual.size() - 1);
  }
  return noise;
}

}  // namespace cobra::lab
