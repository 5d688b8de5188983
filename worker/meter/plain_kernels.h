// The loops that plain_speed.h times, compiled for several instruction sets.
#ifndef COBRA_WORKER_METER_PLAIN_KERNELS_H_
#define COBRA_WORKER_METER_PLAIN_KERNELS_H_

#include <stdint.h>

namespace cobra::worker {

struct PlainKernels {
  int vector_bits;
  int tile_rows, tile_columns;
  // y[tile_rows, tile_columns] += x[tile_rows, depth] * w[depth, tile_columns]. Of each step of
  // depth the numbers of x, and those of w, lie side by side.
  void (*add_tile)(const float* x, const float* w, int64_t depth, float* y, int64_t y_stride);
  // In whole vectors.
  void (*copy)(const float* from, int64_t floats, float* to);
  void (*relu)(float* x, int64_t floats);
};

// The widest that this processor has, of at most `most_vector_bits`; the narrowest otherwise.
const PlainKernels& PlainKernelsFor(int most_vector_bits);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_METER_PLAIN_KERNELS_H_
