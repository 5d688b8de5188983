// PerfSAGE (Chai et al., "PerfSAGE: Generalized Inference Performance Predictor for Arbitrary Deep
// Learning Models on Edge Devices", 2023), rebuilt from its text.
//
// As published: node features (the layer's hyperparameters), edge features (its output's sizes) and
// a trained embedding of its type, through a layer with separate weights for each type (equation 1,
// categorical feature encoding); eight layers that concatenate a node with the sum of its
// neighbours (equation 2); the maximum over the nodes; four fully connected layers, 1024 wide; |X -
// Y| / Y + alpha |X - Y| with alpha 10 (equations 3 and 4: what it calls MSE is sqrt((X - Y)^2));
// spaces with fewer than a tenth of the training rows repeated until they have a tenth (section
// 4.4).
//
// Not published, and chosen here: which hyperparameters there are, and their scale (NetworkSet's,
// log2(1 + x) / 8; kernel and channels stand in the weight's sizes); the width of the layers (64)
// and of the type's embedding (16); the targets' unit, which alpha depends on (ten times the mean
// of the training rows, so that both terms weigh the same at the mean, which is how the text
// explains alpha); whether neighbours are a node's predecessors, its successors, or both (figure 2
// shows both); optimizer, rate, batch, epochs (Adam, 3e-4 and half a cosine, 16, 40; the paper
// trains for 8 hours on an A100; of rates from 1e-4 to 1e-3, batches of 4 and 16, widths of 64 and
// 256, 40 and 120 epochs none was better by more than the spread, and 1e-3 was worse); the initial
// weights (Glorot's, as in Spektral, which the paper names). Their graphs are int8 TFLite after
// fusion, ours are PyTorch's calls; their spaces have 4,917 to 79,998 networks.
#ifndef COBRA_LAB_PUBLISHED_NETWORKS_PERFSAGE_H_
#define COBRA_LAB_PUBLISHED_NETWORKS_PERFSAGE_H_

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "lab/published/networks/network_batch.h"
#include "lab/variants/network_set.h"

namespace cobra::lab {

struct PerfSageOptions {
  int64_t width = 64, embedding = 16, layers = 8, head_width = 1024, head_layers = 4;
  double alpha = 10;         // of a target in units of ten means
  double least_share = 0.1;  // of the training rows; smaller spaces are repeated up to it
  BaselineTraining training{/*epochs=*/40, /*batch=*/16, /*learning_rate=*/3e-4};
  uint64_t seed = 1;
};

class PerfSage : public torch::nn::Module {
 public:
  PerfSage(const NetworkSet& set, const PerfSageOptions& options);
  at::Tensor forward(const NetworkBatch& batch);  // [networks]: target over the mean of the training rows

 private:
  at::Tensor HiddenOfCalls();  // [calls, width]: equation 1, of each distinct call

  const PerfSageOptions options_;
  at::Tensor features_;                    // [calls, numbers]
  std::vector<at::Tensor> calls_of_kind_;  // int64
  at::Tensor embedding_, weight_, bias_;   // [kinds, embedding], [kinds, numbers + embedding, width], [kinds, width]
  std::vector<torch::nn::Linear> sage_, head_;
};

// Rows, with those of small spaces repeated (section 4.4).
std::vector<size_t> Upsample(const NetworkSet& set, absl::Span<const size_t> train, double least_share);

struct PerfSageFit {
  std::vector<double> predicted;  // of each of set.networks, in the target's unit
  int64_t parameters = 0;
};
// `target` of each of set.networks, any unit, positive.
PerfSageFit FitPerfSage(const NetworkSet& set, const std::vector<double>& target, absl::Span<const size_t> train,
                        const PerfSageOptions& options);

}  // namespace cobra::lab

#endif  // COBRA_LAB_PUBLISHED_NETWORKS_PERFSAGE_H_
