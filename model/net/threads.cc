#include "model/net/threads.h"

#include <ATen/Parallel.h>

// Weak: another BLAS may stand in OpenBLAS's place.
extern "C" __attribute__((weak)) void openblas_set_num_threads(int);

namespace cobra {

void UseOneThread() {
  at::set_num_threads(1);
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
}

}  // namespace cobra
