// Training with replaceable parts: how a call's text is split into tokens, the networks, their
// loss, and a step before the first epoch. lab/variants/ has variants; Train and PredictSamples
// (trainer.h) use the parts of production. Includes LibTorch headers; only files of model/ and lab/
// include it.
#ifndef COBRA_MODEL_TRAINING_TRAINING_RUN_H_
#define COBRA_MODEL_TRAINING_TRAINING_RUN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/net/cobra_net.h"
#include "model/predict/weights/bundle.h"
#include "model/text/tokenizer.h"
#include "model/training/batch.h"
#include "model/training/first_prices.h"
#include "model/training/rows/dataset.h"
#include "model/training/trainer.h"

namespace cobra::training {

// The state before the first epoch.
struct TrainingStart {
  const predict::ModelBundle& bundle;  // vocabulary and initialised networks
  const TrainOptions& options;
  // For each training layer: tokens of the main call, and the measured latency.
  std::vector<const std::vector<text::Token>*> calls;
  std::vector<double> latency_us;
};

struct TrainingParts {
  SplitFunction split = text::SplitText;
  std::vector<std::string> more_words;  // added to the vocabulary, besides those of the training rows
  std::function<std::shared_ptr<net::CobraNet>(const net::NetConfig& config, int64_t num_targets)> make_net =
      [](const net::NetConfig& config, int64_t num_targets) {
        auto net = std::make_shared<net::CobraNet>(config, num_targets);
        StartWithDataSheets(net.get());
        return net;
      };
  std::function<at::Tensor(const Batch& batch, const Outputs& outputs)> network_loss = NetworkBatchLoss;
  std::function<void(const TrainingStart& start)> before_first_epoch;  // may be empty
};

// Trains one seed. The bundle has neither measured errors nor intervals.
absl::StatusOr<predict::ModelBundle> TrainBundle(absl::Span<const Dataset> sets, const TrainOptions& options,
                                                 const TrainingParts& parts);

// `split`: as in training.
absl::StatusOr<Predictions> PredictWithBundle(const predict::ModelBundle& bundle,
                                              const std::vector<const Sample*>& samples,
                                              SplitFunction split = text::SplitText, int target = 0);

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_TRAINING_RUN_H_
