// Timings of one device at two levels: on another host, with another driver or in another power
// mode all its networks take longer, or shorter. A single bad timing is contradicted by the others;
// here many agree.
#ifndef COBRA_MODEL_PREDICT_TARGET_TIMING_LEVEL_H_
#define COBRA_MODEL_PREDICT_TARGET_TIMING_LEVEL_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "model/predict/target/timings.h"
#include "store/measurement.h"

namespace cobra::predict {

struct TimingLevel {
  double factor = 1;    // how many times as long as before the networks take
  size_t networks = 0;  // so many agree about it
};

// That of `timed`, if it is not the one of `earlier`. Networks that both have say so: two at least,
// a third of all in `earlier` (of one or two: all), and three quarters of those that both have
// agree that they take more than 1.5 times as long or as short (of one network: twice). nullopt if
// they do not; also beyond a factor of 60, where a unit is mistaken.
std::optional<TimingLevel> FindNewLevel(absl::Span<const store::TimedNetwork> timed,
                                        absl::Span<const store::Measurement> earlier);

// What networks would have taken at another level.
void ScaleTimings(double factor, std::vector<store::Measurement>* records);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_TARGET_TIMING_LEVEL_H_
