// OpenBLAS, found when the program runs: cobra-bench builds and starts without it.
#ifndef COBRA_TESTS_BENCH_BLAS_H_
#define COBRA_TESTS_BENCH_BLAS_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace cobra::bench {

class OpenBlas {
 public:
  // One thread from now on. FailedPrecondition, with what to install, if the library is missing.
  static absl::StatusOr<OpenBlas> Load();

  // c[rows, columns] = a[rows, depth] * b[depth, columns], all row by row without gaps.
  void Multiply(int64_t rows, int64_t columns, int64_t depth, const float* a, const float* b, float* c) const;
  const char* config() const { return config_(); }  // version and kernels: "OpenBLAS 0.3.21 ... SkylakeX"

 private:
  using Sgemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float* a,
                         int lda, const float* b, int ldb, float beta, float* c, int ldc);
  Sgemm sgemm_ = nullptr;
  const char* (*config_)() = nullptr;
};

}  // namespace cobra::bench

#endif  // COBRA_TESTS_BENCH_BLAS_H_
