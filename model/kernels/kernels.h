// The arithmetic of the networks, compiled for several instruction sets. Matrices are of floats,
// row by row; a stride is the number of floats from one row to the next. Widths are padded to whole
// lanes of 16 (PaddedWidth), and the padding of a row may be overwritten.
#ifndef COBRA_MODEL_KERNELS_KERNELS_H_
#define COBRA_MODEL_KERNELS_KERNELS_H_

#include <cstdint>

namespace cobra::kernels {

inline constexpr int64_t kLaneFloats = 16;
constexpr int64_t PaddedWidth(int64_t width) { return (width + kLaneFloats - 1) / kLaneFloats * kLaneFloats; }

struct Kernels {
  const char* name;  // "avx512", "avx2", "neon", "base"
  // y[rows, columns] = x[rows, depth] * w + bias, added to what y has if `add`. `panels`: w[depth,
  // columns] in panels of 16 columns, each [depth, 16]. `bias` may be null; it and y have whole
  // lanes. Each element is a sum in the order of depth, whatever the number of rows.
  void (*product)(const float* x, int64_t rows, int64_t x_stride, const float* panels, int64_t depth, int64_t columns,
                  const float* bias, bool add, float* y, int64_t y_stride);
  // y = (x - mean) / sqrt(variance + 1e-5) * scale + shift, row by row.
  void (*layer_norm)(const float* x, int64_t rows, int64_t width, int64_t stride, const float* scale,
                     const float* shift, float* y);
  // x = x * Phi(x), with Phi from an approximation of erf with an error of some 1e-7; `size` in
  // whole lanes.
  void (*gelu)(float* x, int64_t size);
  // Each row becomes exp(x * scale - max) / sum over its first `width` elements. Rows have whole
  // lanes.
  void (*softmax)(float* x, int64_t rows, int64_t width, int64_t stride, float scale);
  // y += x * factor; in whole lanes.
  void (*add_scaled)(const float* x, float factor, int64_t size, float* y);
  // y = x * (1 + gate) + token; in whole lanes.
  void (*gated)(const float* x, const float* gate, const float* token, int64_t size, float* y);
  // exp(x) of `size` elements, in whole lanes.
  void (*exponentials)(const float* x, int64_t size, float* y);
};

// Those of the best instruction set that this processor has.
const Kernels& BestKernels();
// All that this processor can run, the best first. For tests.
struct KernelList {
  const Kernels* kernels[3];
  int count;
};
KernelList AllKernels();

}  // namespace cobra::kernels

#endif  // COBRA_MODEL_KERNELS_KERNELS_H_
