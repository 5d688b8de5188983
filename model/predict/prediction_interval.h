// The interval of a prediction: as wide as errors on networks like it were, wider where something about it is unknown.
#ifndef COBRA_MODEL_PREDICT_PREDICTION_INTERVAL_H_
#define COBRA_MODEL_PREDICT_PREDICTION_INTERVAL_H_

#include <cmath>

#include "absl/types/span.h"
#include "model/predict/calibration.h"
#include "model/predict/launch_time.h"
#include "model/predict/manifest.h"
#include "model/predict/predictor.h"

namespace cobra::predict {

// The time of an entirely unknown layer may well be three times the prediction, or a third. In the logarithm.
inline const double kUnknownWidth = std::log(3.0);

// Sets low_us, high_us and coverage, given latency_us and confidence. `mean`: the network's mean embedding.
// `is_one_call`: of all calls no more than one is no view. `calibration` and `adapted` may be null.
void SetPredictionInterval(const TargetEntry& target, absl::Span<const float> mean, bool is_one_call,
                           const Calibration* calibration, const Calibration* adapted, const LaunchTime& launching,
                           LatencyPrediction* prediction);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_PREDICTION_INTERVAL_H_
