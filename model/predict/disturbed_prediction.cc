#include "model/predict/disturbed_prediction.h"

namespace cobra::predict {

void IncludeDisturbance(const Disturbance& disturbance, LatencyPrediction* prediction) {
  if (disturbance.timings == 0) return;
  prediction->undisturbed_us = prediction->latency_us;
  prediction->undisturbed_low_us = prediction->low_us;
  prediction->undisturbed_high_us = prediction->high_us;
  const TimeInterval here =
      OnDisturbedMachine({prediction->latency_us, prediction->low_us, prediction->high_us}, disturbance);
  prediction->latency_us = here.middle;
  prediction->low_us = here.low;
  prediction->high_us = here.high;
  for (double& us : prediction->node_latency_us) us *= disturbance.typical;
  for (float& us : prediction->node_alone_us) us *= static_cast<float>(disturbance.typical);
}

}  // namespace cobra::predict
