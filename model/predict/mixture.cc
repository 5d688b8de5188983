#include "model/predict/mixture.h"

#include <cmath>
#include <cstddef>
#include <utility>

namespace cobra::predict {

LatencyPrediction Mixture(std::vector<WeightedPrediction> predictions, double extrapolating_below) {
  if (predictions.size() == 1) return std::move(predictions[0].prediction);
  LatencyPrediction out = predictions[0].prediction;  // with its reasons
  double log_us = 0, half_width = 0;
  out.known_share = 0;
  for (const auto& [weight, p] : predictions) {
    log_us += weight * std::log(p.latency_us);
    half_width += weight * std::log(p.high_us / p.latency_us);
    out.known_share += weight * p.known_share;
  }
  out.latency_us = std::exp(log_us);
  for (size_t call = 0; call < out.node_latency_us.size(); ++call) {
    double share = 0, log_alone = 0;
    for (const auto& [weight, p] : predictions) {
      share += weight * p.node_latency_us[call] / p.latency_us;
      log_alone += weight * std::log(static_cast<double>(p.node_alone_us[call]));
    }
    out.node_latency_us[call] = share * out.latency_us;
    out.node_alone_us[call] = static_cast<float>(std::exp(log_alone));
  }
  out.extrapolating = out.known_share < extrapolating_below;
  out.coverage = out.extrapolating ? 0 : LatencyPrediction().coverage;
  out.low_us = out.latency_us * std::exp(-half_width);
  out.high_us = out.latency_us * std::exp(half_width);
  return out;
}

}  // namespace cobra::predict
