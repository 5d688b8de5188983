// Batches of networks of any size for the published graph networks, without padding. Includes
// LibTorch headers.
#ifndef COBRA_LAB_PUBLISHED_NETWORKS_NETWORK_BATCH_H_
#define COBRA_LAB_PUBLISHED_NETWORKS_NETWORK_BATCH_H_

#include <torch/types.h>

#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "lab/variants/network_set.h"

namespace cobra::lab {

struct NetworkBatch {
  at::Tensor call;                   // int64 [nodes] into NetworkSet::calls
  at::Tensor sources, destinations;  // int64 [edges]: data flows from source to destination
  at::Tensor graph_of_node;          // int64 [nodes], ascending
  std::vector<int64_t> sizes;        // nodes of each network
};
NetworkBatch CollateNetworks(const NetworkSet& set, absl::Span<const size_t> networks);

// Adam and half a cosine over shuffled batches. `loss` gets the chosen networks, which may contain
// duplicates.
struct BaselineTraining {
  int epochs = 40, batch = 8;
  double learning_rate = 1e-3, weight_decay = 0;  // with decay it is AdamW
};
void TrainBaseline(const std::vector<at::Tensor>& parameters, const std::vector<size_t>& rows,
                   const BaselineTraining& training, const std::function<at::Tensor(absl::Span<const size_t>)>& loss);

// forward(batch) -> [networks], of all networks, a few at a time, without gradients.
std::vector<double> PredictNetworks(const NetworkSet& set,
                                    const std::function<at::Tensor(const NetworkBatch&)>& forward);

}  // namespace cobra::lab

#endif  // COBRA_LAB_PUBLISHED_NETWORKS_NETWORK_BATCH_H_
