// What else runs on a machine, and how much it slows networks down. A probe times networks as its
// user would, while neighbours come and go, and knows how long each of them takes undisturbed
// (worker/meter/pulse.h). The ratios of the two are what users will see: a calibration is fitted to
// the undisturbed times, which do not depend on the hour, and its predictions are then corrected
// for the machine as it is.
#ifndef COBRA_MODEL_PREDICT_TARGET_DISTURBANCE_H_
#define COBRA_MODEL_PREDICT_TARGET_DISTURBANCE_H_

#include <string>
#include <vector>

#include "model/predict/target/target.h"

namespace cobra::predict {

// Fewer timings have no quantiles worth telling.
inline constexpr size_t kFewestDisturbanceTimings = 8;

// Of ProbeResult::disturbance; without any timings for fewer than these.
Disturbance DisturbanceOf(std::vector<double> ratios);

// From here on it is reported: on a quiet machine a median and the fastest runs are this close.
inline bool IsNoticeable(const Disturbance& disturbance) {
  constexpr double kTypical = 1.05, kHigh = 1.15;
  return disturbance.timings > 0 && (disturbance.typical > kTypical || disturbance.high > kHigh);
}

// "networks took 1.18 times ..." for people.
std::string DisturbanceText(const Disturbance& disturbance);

// A time and its interval, in any unit.
struct TimeInterval {
  double middle = 0, low = 0, high = 0;
};
// The time on the disturbed machine: the middle is longer by the typical ratio, and to either side
// come, as independent errors, the prediction's own and those of the ratio.
TimeInterval OnDisturbedMachine(const TimeInterval& undisturbed, const Disturbance& disturbance);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_TARGET_DISTURBANCE_H_
