// How predictable the rows of table hat are.
#ifndef COBRA_LAB_TABLES_PAPERS_HAT_NOISE_H_
#define COBRA_LAB_TABLES_PAPERS_HAT_NOISE_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "model/space/models/hat_space.h"

namespace cobra::lab {

// The noise that the features do not explain: the mean |a - b| / sqrt(2) over pairs of rows, where
// a and b are the law's residuals in log-latency. For independent errors this is the mean absolute
// error.
struct HatNoise {
  // Of the `pairs` pairs of rows with the most similar features: a lower bound for predictors that
  // use features alone
  double alike = 0;
  double consecutive = 0;  // over consecutive measurements: the noise that remains if the device's state is known
};
// REQUIRES: rows in the order of measuring.
absl::StatusOr<HatNoise> MeasureHatNoise(const std::vector<space::HatFeatures>& features,
                                         const std::vector<double>& latency_ms, size_t pairs);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_PAPERS_HAT_NOISE_H_
