#include "tests/bench/blas.h"

#include <dlfcn.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cobra::bench {

absl::StatusOr<OpenBlas> OpenBlas::Load() {
  static constexpr char kLibraryFile[] = "libopenblas.so.0";
  void* const library = ::dlopen(kLibraryFile, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the library to compare with is missing: apt-get install libopenblas0-pthread (", ::dlerror(), ")"));
  }
  OpenBlas blas;
  blas.sgemm_ = reinterpret_cast<Sgemm>(::dlsym(library, "cblas_sgemm"));
  blas.config_ = reinterpret_cast<const char* (*)()>(::dlsym(library, "openblas_get_config"));
  const auto set_threads = reinterpret_cast<void (*)(int)>(::dlsym(library, "openblas_set_num_threads"));
  if (blas.sgemm_ == nullptr || blas.config_ == nullptr || set_threads == nullptr)
    return absl::FailedPreconditionError(absl::StrCat(kLibraryFile, " has no cblas_sgemm: it is not OpenBLAS"));
  set_threads(1);
  return blas;
}

void OpenBlas::Multiply(int64_t rows, int64_t columns, int64_t depth, const float* a, const float* b, float* c) const {
  constexpr int kRowMajor = 101, kNoTranspose = 111;  // of cblas.h
  const int m = static_cast<int>(rows), n = static_cast<int>(columns), k = static_cast<int>(depth);
  sgemm_(kRowMajor, kNoTranspose, kNoTranspose, m, n, k, 1, a, k, b, n, 0, c, n);
}

}  // namespace cobra::bench
