// The interval of a prediction: as wide as the errors on similar networks, and wider if something
// about this one is unknown.
#ifndef COBRA_MODEL_PREDICT_PRICE_PREDICTION_INTERVAL_H_
#define COBRA_MODEL_PREDICT_PRICE_PREDICTION_INTERVAL_H_

#include <cmath>

#include "absl/types/span.h"
#include "model/predict/price/launch_time.h"
#include "model/predict/price/prediction.h"
#include "model/predict/target/target.h"
#include "model/predict/weights/manifest.h"

namespace cobra::predict {

// The time of an entirely unknown layer may well be three times the prediction, or a third. In the
// logarithm.
inline const double kUnknownWidth = std::log(3.0);

// Sets low_us, high_us and coverage, given latency_us and known_share. `mean`: the network's mean
// embedding. `is_one_call`: all calls but at most one are views. `calibration` and `adapted` may be
// null.
void SetPredictionInterval(const TargetEntry& target, absl::Span<const float> mean, bool is_one_call,
                           const Calibration* calibration, const Calibration* adapted, const LaunchTime& launching,
                           LatencyPrediction* prediction);

// What an answer's confidence speaks of: the measured latency is within this factor of the
// predicted one.
inline constexpr double kConfidentFactor = 1.5;

// The probability that |log(measured / predicted)| is below log(kConfidentFactor), if nine of ten
// stay below `half_width` and larger ones are as much rarer the larger they are (an exponential
// distribution). It is 0.9 where the 90 % interval reaches from 1 / kConfidentFactor to
// kConfidentFactor.
double ProbabilityWithinFactor(double half_width);

// The last step of an answer: the probability that its interval means. So wide an interval holds of
// networks of which half is known; with a smaller known share it falls, and it is 0 if nothing is
// known. An extrapolating answer is shown as a guess, so it has at most kMostOfGuess.
inline constexpr double kMostOfGuess = 0.89;  // below 0.9, from where on answers are called sure, in two digits, too
void SetConfidence(LatencyPrediction* prediction);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_PRICE_PREDICTION_INTERVAL_H_
