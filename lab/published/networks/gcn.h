// BRP-NAS's latency predictor (Dudziak et al., 2020, NeurIPS), which Yue (2021) used unchanged.
// Follows the paper's text, section 4.1 of Yue's, and for details that neither gives the authors'
// released code (github SamsungLabs/eagle, commit b9833fe). Includes LibTorch headers.
//
// Differences: float32 instead of float64; latencies are divided by the mean of the training rows
// instead of being used as in the file; the loss is the batch's mean instead of its sum (AdamW's
// steps do not depend on the scale).
#ifndef COBRA_LAB_PUBLISHED_NETWORKS_GCN_H_
#define COBRA_LAB_PUBLISHED_NETWORKS_GCN_H_

#include <torch/nn/module.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <cstdint>
#include <vector>

#include "model/space/models/space_fit.h"
#include "model/space/models/space_nets.h"

namespace cobra::lab {

struct GcnOptions {
  int64_t kinds = 0;  // numbers a node in DenseGraphs::kinds
  int64_t width = 600, layers = 4;
  double dropout = 0.002;
  bool identity_adjacency = false;  // Yue, table 4: no messages, not even to the global node
  bool random_features = false;     // Yue, table 4: random features for each node instead of its operation
};

// The inputs of the network, computed once. The global node is the last; it reads every node,
// including padding, as in their code.
struct GcnGraphs {
  at::Tensor features;  // [graphs, nodes + 1, kinds + 1]; the global node has its own kind
  // [graphs, nodes + 1, nodes + 1]: a node reads itself and those that its data flows *to*; not
  // normalised
  at::Tensor adjacency;

  int64_t size() const { return features.size(0); }
  GcnGraphs Select(const at::Tensor& index) const {
    return {features.index_select(0, index), adjacency.index_select(0, index)};
  }
};
// Random features are drawn from LibTorch's generator.
GcnGraphs MakeGcnGraphs(const space::DenseGraphs& graphs, const GcnOptions& options);

// Blocks of graph convolution, layer norm, ReLU and dropout, and a linear layer on the global node.
class Gcn : public torch::nn::Module {
 public:
  explicit Gcn(const GcnOptions& options);
  // [graphs] over the mean of the training rows; may be negative early in training
  at::Tensor Latency(const GcnGraphs& graphs);

 private:
  std::vector<torch::nn::Linear> weights_;
  std::vector<torch::nn::LayerNorm> norms_;
  torch::nn::Dropout dropout_;
  torch::nn::Linear out_;
};

// L1 loss, AdamW. For the first 21 epochs the rate is constant; then it is halved after more than
// 10 epochs without a validation loss 1 % below the best, and training stops after 35 without a
// better one. The weights with the best validation loss are kept.
struct GcnFitOptions {
  GcnOptions net;
  int epochs = 250, batch = 1;
  int patient_from = 21, halve_after = 10, stop_after = 35;
  double learning_rate = 4e-4;  // 4e-4 at batch 1 (released code), 8e-4 at batch 10 (paper's supplement)
  double weight_decay = 5e-4;
  uint64_t seed = 1;
};
struct GcnFit {
  std::vector<double> latency_ms;  // of each graph
  int epochs = 0;                  // that it trained for
  int64_t parameters = 0;
};
GcnFit FitGcn(const space::DenseGraphs& graphs, const space::SpaceRowSet& train, const space::SpaceRowSet& validation,
              const GcnFitOptions& options);

// Milliseconds of each graph, a few hundred at a time; at least a thousandth of the mean.
std::vector<double> GcnLatencyMs(const GcnGraphs& graphs, Gcn& net, double mean_ms);

}  // namespace cobra::lab

#endif  // COBRA_LAB_PUBLISHED_NETWORKS_GCN_H_
