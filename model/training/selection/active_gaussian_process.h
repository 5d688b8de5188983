// The rules of active.h: a Gaussian process on the layers' vectors.
#ifndef COBRA_MODEL_TRAINING_SELECTION_ACTIVE_GAUSSIAN_PROCESS_H_
#define COBRA_MODEL_TRAINING_SELECTION_ACTIVE_GAUSSIAN_PROCESS_H_

#include "model/training/selection/active.h"

namespace cobra::training {

// Selects from the complete pool with kInformation or kVariance. REQUIRES: a checked task, pool and
// targets not empty.
Selection SelectByGaussianProcess(const SelectionTask& task, const SelectionOptions& options);

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_SELECTION_ACTIVE_GAUSSIAN_PROCESS_H_
