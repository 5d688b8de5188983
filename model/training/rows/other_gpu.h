// What physics says about GPUs that nobody measured, given a measurement on one GPU
// (model/training/training_run.cc).
#ifndef COBRA_MODEL_TRAINING_ROWS_OTHER_GPU_H_
#define COBRA_MODEL_TRAINING_ROWS_OTHER_GPU_H_

#include <optional>
#include <random>

#include "model/predict/target/target.h"
#include "model/training/rows/dataset.h"

namespace cobra::training {

struct OtherGpu {
  std::optional<predict::TargetSpec> spec;  // nullopt: nothing is known of the GPU
  double log_faster = 0;                    // the logarithm of by how much the row takes less time there
};

// Draws one. Of a row whose calls take long: a GPU with all rates and its power higher or lower by
// one factor, up to four, by more multiprocessors or by a higher clock; if moving data takes a
// quarter of the time by itself and arithmetic nearly none, with bandwidths by that factor and all
// else by another one; if arithmetic at its peak takes half, with more bandwidth besides, and
// another limit of its power (not of AMD's). Of a row that takes ten times as long as its work
// would: a GPU with each number of its sheet higher by its own factor. Of one without convolutions:
// a GPU that computes these in TF32, or in float32, at any rate.
OtherGpu OtherGpuFor(const Sample& row, const predict::TargetSpec& spec, std::mt19937_64* random);

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_ROWS_OTHER_GPU_H_
