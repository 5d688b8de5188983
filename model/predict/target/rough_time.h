// A very rough time of a call on one core of a server: which calls are limited by memory, and which
// are small, hardly depends on the machine.
#ifndef COBRA_MODEL_PREDICT_TARGET_ROUGH_TIME_H_
#define COBRA_MODEL_PREDICT_TARGET_ROUGH_TIME_H_

#include <algorithm>

#include "graph/cost/cost.h"

namespace cobra::predict {

inline double RoughUs(const graph::NodeCost& cost) {
  constexpr double kMacsPerUs = 50e3, kBytesPerUs = 10e3;
  const double bytes = static_cast<double>(cost.input_bytes + cost.weight_bytes + cost.output_bytes);
  return std::max(static_cast<double>(cost.macs) / kMacsPerUs, bytes / kBytesPerUs);
}

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_TARGET_ROUGH_TIME_H_
