#include "model/net/threads.h"

#include <ATen/Parallel.h>
#include <malloc.h>

#include <limits>

// Weak: the program may be linked with another BLAS than OpenBLAS.
extern "C" __attribute__((weak)) void openblas_set_num_threads(int);

namespace cobra::net {

void UseOneThread() {
  at::set_num_threads(1);
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
}

void RetainHeap() {
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest value that glibc accepts
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_TOP_PAD, 64 << 20);
}

}  // namespace cobra::net
