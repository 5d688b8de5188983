// Products of vectors and square matrices whose size is known at compile time.
#ifndef COBRA_MODEL_PREDICT_TARGET_SMALL_MATRIX_H_
#define COBRA_MODEL_PREDICT_TARGET_SMALL_MATRIX_H_

#include <array>
#include <cstddef>

namespace cobra::predict {

template <size_t n>
using SmallVector = std::array<double, n>;
template <size_t n>
using SmallMatrix = std::array<SmallVector<n>, n>;

template <size_t n>
double Dot(const SmallVector<n>& a, const SmallVector<n>& b) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

template <size_t n>
SmallVector<n> Product(const SmallMatrix<n>& matrix, const SmallVector<n>& x) {
  SmallVector<n> y;
  for (size_t i = 0; i < n; ++i) y[i] = Dot(matrix[i], x);
  return y;
}

// matrix += weight x x'.
template <size_t n>
void AddOuter(const SmallVector<n>& x, double weight, SmallMatrix<n>* matrix) {
  for (size_t i = 0; i < n; ++i) {
    if (x[i] == 0) continue;
    for (size_t j = 0; j < n; ++j) (*matrix)[i][j] += weight * x[i] * x[j];
  }
}

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_TARGET_SMALL_MATRIX_H_
