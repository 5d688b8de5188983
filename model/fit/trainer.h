// Fits the encoder, the layer head and the graph network together on measured layers and networks. One call trains one
// seed.
#ifndef COBRA_MODEL_FIT_TRAINER_H_
#define COBRA_MODEL_FIT_TRAINER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/fit/dataset.h"
#include "model/fit/metrics.h"
#include "model/net/config.h"

namespace cobra::fit {

struct TrainOptions {
  net::NetConfig net;
  int epochs = 36;        // everything together; an epoch is once through the layers
  int layer_batch = 192;  // layer samples a step
  int network_batch = 4;  // networks a step: their many distinct layers are what a step costs
  double learning_rate = 2e-3;
  double weight_decay = 1e-3;
  double gradient_clip = 1.0;
  // Pre-training of the encoder on the layers: masked numbers are to be guessed from the others. 0: none, as shipped.
  // The paper's trick appends the measured latency there, so that numbers which matter for it depend on each other.
  int pretrain_epochs = 0;
  bool append_latency = false;
  double average_decay = 0.998;  // exponential moving average of the weights; it is what is kept
  uint64_t seed = 1;
  std::string checkpoint;  // file; continued from when it exists; empty: none
};

// Trains and writes a model version (manifest + tensors, without measured errors and intervals) to `directory`.
absl::Status Train(const Dataset& data, const TrainOptions& options, absl::string_view directory);

// Predictions of a model version for samples, as it serves them.
struct Predictions {
  std::vector<double> latency_us;    // graph network: the answer
  std::vector<double> layer_sum_us;  // sum of the layer head's answers: layers predicted alone, then added
  std::vector<std::vector<float>>
      embedding;  // mean over the calls, each by its share of the answer: what the spread of errors follows
};
absl::StatusOr<Predictions> PredictSamples(absl::string_view directory, const std::vector<const Sample*>& samples);

}  // namespace cobra::fit

#endif  // COBRA_MODEL_FIT_TRAINER_H_
