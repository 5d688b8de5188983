// How fast this processor computes and moves numbers, by loops of our own: for a worker that has no
// LibTorch (worker/execute/without_libtorch.cc). How far each is from what LibTorch reaches:
// docs/runners.md.
#ifndef COBRA_WORKER_METER_PLAIN_SPEED_H_
#define COBRA_WORKER_METER_PLAIN_SPEED_H_

#include <cstdint>
#include <functional>

namespace cobra::worker {

struct PlainLimits {
  int threads = 1;
  // Wider registers are left alone (Isa, worker/machine/execution.h).
  int most_vector_bits = 512;
};

// Microseconds, the median of so many runs, which all threads make together. The threads are there
// only meanwhile: the process may fork afterwards. 0: there is no memory for it.
using TimedLoop = std::function<double(int runs)>;

// Of square matrices, in float32.
TimedLoop PlainProduct(int64_t size, const PlainLimits& limits);
TimedLoop PlainCopy(int64_t floats, const PlainLimits& limits);
// In place.
TimedLoop PlainRelu(int64_t floats, const PlainLimits& limits);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_METER_PLAIN_SPEED_H_
