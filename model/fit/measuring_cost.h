// What measuring one layer takes of a worker's time, by the rules of a series (worker/measure.cc, LayerSeriesRules):
// warm-up by time, runs until the median is known to 1 %, at most 250 ms.
#ifndef COBRA_MODEL_FIT_MEASURING_COST_H_
#define COBRA_MODEL_FIT_MEASURING_COST_H_

#include <cstdint>

namespace cobra::fit {

// Of a layer that was measured: `timed_us` are its runs together, `cold_us` its first call.
double RecordedSeconds(double latency_us, double timed_us, double cold_us, int64_t peak_memory_bytes);

// Of a layer that may be measured, from its predicted latency.
double ExpectedSeconds(double latency_us, int64_t peak_memory_bytes);

}  // namespace cobra::fit

#endif  // COBRA_MODEL_FIT_MEASURING_COST_H_
