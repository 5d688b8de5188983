// Inside the executor only: the version of LibTorch that this is compiled against, for code that
// differs between 1.13 and 2.x.
#ifndef COBRA_WORKER_EXECUTE_EXECUTOR_VERSION_H_
#define COBRA_WORKER_EXECUTE_EXECUTOR_VERSION_H_

#include "torch/version.h"

#define COBRA_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > major || (TORCH_VERSION_MAJOR == major && TORCH_VERSION_MINOR >= minor))

#endif  // COBRA_WORKER_EXECUTE_EXECUTOR_VERSION_H_
