// Trains a model version on new measurements: `cobra-train refit`. It takes minutes, not hours,
// because training continues from the version's weights. Every batch is half new rows and half old
// ones, so that old knowledge is kept. The targets of the old rows are the version's own
// predictions (Li and Hoiem, "Learning without Forgetting", 2016), and so are those of the
// version's other targets, on which nothing was measured. New words and wider ranges of numbers
// enter the vocabulary, so that the same request is predicted with confidence afterwards.
#ifndef COBRA_MODEL_TRAINING_REFIT_H_
#define COBRA_MODEL_TRAINING_REFIT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "model/training/rows/dataset.h"

namespace cobra::training {

struct RefitOptions {
  double seconds = 120;  // of training, of one processor
  int max_steps = 600;
  int layer_batch = 96;         // layers per step, half of them new
  int network_batch = 4;        // networks per step, one of them new (two, if there are enough)
  double learning_rate = 2e-4;  // a tenth of the first training's
  double weight_decay = 1e-3;
  double gradient_clip = 1.0;
  double average_decay = 0.99;
  uint64_t seed = 1;
};

// `known` is the version's training data, `fresh` the new data. Rows of other splits than kTrain
// are used for evaluation only. Writes a version to `directory`, without measured errors and
// intervals (FinishVersion).
absl::Status Refit(absl::string_view model_directory, const Dataset& known, const Dataset& fresh,
                   const RefitOptions& options, absl::string_view directory);

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_REFIT_H_
