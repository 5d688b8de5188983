// Turns a prediction for the undisturbed machine into one for the machine as it is (disturbance.h).
#ifndef COBRA_MODEL_PREDICT_DISTURBED_PREDICTION_H_
#define COBRA_MODEL_PREDICT_DISTURBED_PREDICTION_H_

#include "model/predict/price/prediction.h"
#include "model/predict/target/disturbance.h"

namespace cobra::predict {

// Keeps what `prediction` says as its undisturbed time; latency, interval and the calls'
// contributions then include the disturbance. Does nothing if that is not known.
void IncludeDisturbance(const Disturbance& disturbance, LatencyPrediction* prediction);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_DISTURBED_PREDICTION_H_
