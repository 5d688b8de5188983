// The time a worker needs to measure one layer by the rules of a series (worker/run/measure.cc,
// LayerSeriesRules): warm-up by time, runs until the median is known to 1 %, at most 250 ms.
#ifndef COBRA_MODEL_TRAINING_ROWS_MEASURING_COST_H_
#define COBRA_MODEL_TRAINING_ROWS_MEASURING_COST_H_

#include <cstdint>

#include "store/measurement.h"

namespace cobra::training {

// Of a measured layer.
double RecordedSeconds(const store::Measurement& measurement);

// Of a candidate, from its predicted latency.
double ExpectedSeconds(double latency_us, int64_t peak_memory_bytes);

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_ROWS_MEASURING_COST_H_
