// Variants of our networks, each with one part as published for COBRA, or without it. `cobra-train
// table ablation` compares them with the production network (model/net/cobra_net.h). Includes
// LibTorch headers.
#ifndef COBRA_LAB_VARIANTS_NET_VARIANTS_H_
#define COBRA_LAB_VARIANTS_NET_VARIANTS_H_

#include <cstdint>
#include <memory>

#include "model/net/cobra_net.h"
#include "model/training/training_run.h"

namespace cobra::lab {

// The layer head predicts the latency itself, not prices of work.
std::shared_ptr<net::CobraNet> MakeNetWithoutPrices(const net::NetConfig& config, int64_t num_targets);

// Predicts one number from the mean over the calls; all calls have the same share of it. There are
// no contributions, and therefore no loss over them.
std::shared_ptr<net::CobraNet> MakeNetOfMeans(const net::NetConfig& config, int64_t num_targets);
at::Tensor TotalLoss(const training::Batch& batch, const training::Outputs& outputs);

// The target is not an input of the networks.
std::shared_ptr<net::CobraNet> MakeNetWithoutTarget(const net::NetConfig& config, int64_t num_targets);

}  // namespace cobra::lab

#endif  // COBRA_LAB_VARIANTS_NET_VARIANTS_H_
