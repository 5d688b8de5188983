// BRP-NAS' graph convolutional network (Dudziak et al., NeurIPS 2020; as Yue, 2021, rebuilt it:
// lab/published/networks/gcn.h) over networks of any size: one node per call, with only its
// operator as feature, and a global node that receives messages from every node and gives the
// prediction. Includes LibTorch headers.
#ifndef COBRA_LAB_PUBLISHED_NETWORKS_NETWORK_GCN_H_
#define COBRA_LAB_PUBLISHED_NETWORKS_NETWORK_GCN_H_

#include <torch/nn/module.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "lab/published/networks/network_batch.h"
#include "lab/variants/network_set.h"

namespace cobra::lab {

// Published: 4 x 600, 250 epochs of batch 1 at 4e-4 with decay 5e-4, halved where validation
// stalls. Here a node costs as much as a complete cell there, so it is 4 x 200, 60 epochs of batch
// 4 and half a cosine.
struct NetworkGcnOptions {
  int64_t width = 200, layers = 4;
  double dropout = 0.002;
  BaselineTraining training{/*epochs=*/60, /*batch=*/4, /*learning_rate=*/4e-4, /*weight_decay=*/5e-4};
  uint64_t seed = 1;
};
class NetworkGcn : public torch::nn::Module {
 public:
  NetworkGcn(const NetworkSet& set, const NetworkGcnOptions& options);
  at::Tensor forward(const NetworkBatch& batch);  // [networks]: latency over the mean of the training rows

 private:
  at::Tensor kinds_;  // [calls, kinds + 1] one-hot; the last kind is the network's own node
  std::vector<torch::nn::Linear> weights_;
  std::vector<torch::nn::LayerNorm> norms_;
  torch::nn::Dropout dropout_;
  torch::nn::Linear out_;
};

struct NetworkGcnFit {
  std::vector<double> latency_us;  // of each of set.networks
  int64_t parameters = 0;
};
// L1 loss of the latency, as published.
NetworkGcnFit FitNetworkGcn(const NetworkSet& set, absl::Span<const size_t> train, const NetworkGcnOptions& options);

}  // namespace cobra::lab

#endif  // COBRA_LAB_PUBLISHED_NETWORKS_NETWORK_GCN_H_
