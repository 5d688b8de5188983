// The rules of active.h: a Gaussian process on the layers' vectors.
#ifndef COBRA_MODEL_FIT_ACTIVE_PROCESS_H_
#define COBRA_MODEL_FIT_ACTIVE_PROCESS_H_

#include "model/fit/active.h"

namespace cobra::fit {

// From the whole pool, kInformation or kVariance. REQUIRES: a checked task, pool and targets not empty.
Selection SelectByProcess(const SelectionTask& task, const SelectionOptions& options);

}  // namespace cobra::fit

#endif  // COBRA_MODEL_FIT_ACTIVE_PROCESS_H_
