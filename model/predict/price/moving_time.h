// The least time that a call takes to move its data.
#ifndef COBRA_MODEL_PREDICT_PRICE_MOVING_TIME_H_
#define COBRA_MODEL_PREDICT_PRICE_MOVING_TIME_H_

#include <cstdint>

#include "graph/graph.h"
#include "model/predict/target/target.h"

namespace cobra::predict {

// A GPU under PyTorch or LibTorch that compiles nothing writes the result of each call into its
// memory, and reads the next one's input from there, but for what its caches hold. So a call that
// computes little (activations, sums, normalizations) takes at least the time for these bytes at
// the bandwidth of the data sheet: of 13,400 such kernels of data/public/neusight that are beyond
// the caches none takes less than 1.07 times that.
class MovingTime {
 public:
  explicit MovingTime(const TargetSpec& spec);
  bool is_known() const { return bytes_per_us_ > 0; }
  // In microseconds. 0: nothing is known, or all fits into the caches.
  double LeastUs(const graph::Graph& graph, int32_t call) const;

 private:
  double bytes_per_us_ = 0;  // 0: the device is none of these
  double cache_bytes_ = 0;
  double bytes_of_byte_ = 1;  // graphs say float32 of what targets of half precision keep in half of the bytes
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_PRICE_MOVING_TIME_H_
