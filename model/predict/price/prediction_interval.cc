#include "model/predict/price/prediction_interval.h"

#include <algorithm>

#include "model/predict/price/known_range.h"

namespace cobra::predict {
namespace {

// Whatever the errors of other devices make of it: a thousandfold either way says that nothing is
// known.
const double kWidest = std::log(1000.0);

}  // namespace

void SetPredictionInterval(const TargetEntry& target, absl::Span<const float> mean, bool is_one_call,
                           const Calibration* calibration, const Calibration* adapted, const LaunchTime& launching,
                           LatencyPrediction* prediction) {
  // Where no single layers were measured, a call alone was a network of one call, if anything.
  const bool is_layer = is_one_call && target.interval.layer.half_width > 0;
  const IntervalWidth& interval = is_layer ? target.interval.layer : target.interval.network;
  double width = interval.HalfWidthOf(mean);
  if (calibration != nullptr)
    width = std::hypot(width * calibration->interval_scale, calibration->interval_log);  // independent errors
  // Outside the training data nothing guarantees the coverage: the interval is wider, and its
  // coverage is given as 0.
  const double doubt = 1 - prediction->known_share;
  width = std::max(width * (1 + 2 * doubt), kUnknownWidth * doubt);
  if (calibration == nullptr || (adapted != nullptr && adapted->samples < kEnoughSamples))
    width = std::max(width, launching.HalfWidth(prediction->latency_us));
  width = std::min(width, kWidest);
  if (prediction->extrapolating) prediction->coverage = 0;
  prediction->low_us = prediction->latency_us * std::exp(-width);
  prediction->high_us = prediction->latency_us * std::exp(width);
}

double ProbabilityWithinFactor(double half_width) {
  return half_width > 0 ? 1 - std::pow(0.1, std::log(kConfidentFactor) / half_width) : 1;
}

void SetConfidence(LatencyPrediction* prediction) {
  const double us = prediction->latency_us;
  const double half_width = std::log(std::max(prediction->high_us / us, us / prediction->low_us));
  constexpr double kEnoughKnown = 0.5;  // held-out networks with shares from here on lie inside as often as others
  const double meant = std::min(1.0, prediction->known_share / kEnoughKnown);
  prediction->confidence = meant * ProbabilityWithinFactor(half_width);
  if (prediction->extrapolating) prediction->confidence = std::min(prediction->confidence, kMostOfGuess);
}

}  // namespace cobra::predict
