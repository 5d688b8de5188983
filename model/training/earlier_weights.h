// The weights of an earlier version in networks that know more words or other targets: where a
// refit starts, and a training with `cobra-train fit --from`; and the mean of what several such
// trainings end with. Includes LibTorch headers; only files of model/ include it.
#ifndef COBRA_MODEL_TRAINING_EARLIER_WEIGHTS_H_
#define COBRA_MODEL_TRAINING_EARLIER_WEIGHTS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/predict/weights/bundle.h"

namespace cobra::training {

// Copies the weights of `earlier` into bundle->net. A new word starts as the unknown word, as which
// it was read before; a new target as the mean of the earlier ones that have its runtime.
// A graph network of the other form begins with what both forms have, further rounds of messages of
// a shared one without effect. InvalidArgument if the networks have other sizes. REQUIRES:
// vocabulary and manifest of `bundle` are complete.
absl::Status TakeWeights(const predict::ModelBundle& earlier, predict::ModelBundle* bundle);

// The mean of the weights of versions that were trained from the same first weights on the same
// rows ("Model soups", Wortsman et al., ICML 2022): as if their predictions were averaged, at the
// cost of one. InvalidArgument if they know other words or targets.
absl::StatusOr<predict::ModelBundle> AverageWeights(std::vector<predict::ModelBundle> versions);

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_EARLIER_WEIGHTS_H_
