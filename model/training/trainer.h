// Fits the encoder, the layer head and the graph network together on measured layers and networks.
// One call trains one seed. LibTorch is not visible here (training_run.h).
#ifndef COBRA_MODEL_TRAINING_TRAINER_H_
#define COBRA_MODEL_TRAINING_TRAINER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/net/config.h"
#include "model/training/rows/dataset.h"
#include "model/training/rows/metrics.h"

namespace cobra::training {

struct TrainOptions {
  net::NetConfig net;
  int epochs = 36;        // an epoch is one pass over the layers
  int layer_batch = 256;  // layer samples a step
  int network_batch = 8;  // networks a step; their many distinct layers dominate its cost
  double learning_rate = 2e-3;
  double weight_decay = 1e-3;
  double gradient_clip = 1.0;
  double hidden_operators = 0.05;  // of the calls of a step, how many have no name
  double embedding_dropout = 0;    // of the calls' vectors in a step; helps where few networks were measured
  double average_decay = 0.998;    // exponential moving average of the weights, which is the result
  uint64_t seed = 1;
  std::string checkpoint;  // file to continue from if it exists; empty: none
  std::string from;        // directory of a version whose weights are the first ones; empty: random ones
  // Only the graph network learns; the other weights stay those of `from`. Each call is encoded
  // once, so that an epoch takes a small part of the time.
  bool graph_net_only = false;
  std::string device =
      "cpu";  // that computes: "cpu", or "cuda" if LibTorch has it; the version is the same kind of file
};

// Trains one version for the targets of all `sets`, numbered (NumberTargets), and writes it to
// `directory`: manifest and tensors, without measured errors and intervals.
absl::Status Train(absl::Span<const Dataset> sets, const TrainOptions& options, absl::string_view directory);

// Writes to `directory` the mean of versions that began with the same weights (AverageWeights).
absl::Status AverageVersions(absl::Span<const std::string> directories, absl::string_view directory);

// Predictions of a model version for samples on one of its targets, equal to those when serving.
struct Predictions {
  std::vector<double> latency_us;    // of the graph network: the prediction
  std::vector<double> layer_sum_us;  // sum of the layer head's predictions of the single layers
  // Mean embedding of the calls, weighted by their shares of the latency: the input of the spread.
  std::vector<std::vector<float>> embedding;
};
absl::StatusOr<Predictions> PredictSamples(absl::string_view directory, const std::vector<const Sample*>& samples,
                                           int target = 0);

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_TRAINER_H_
