// Our predictor of the networks of measured spaces: CallModel predicts the latency of each call in
// context, and a graph network (model/net/graph_net.h) corrects it by the surrounding calls. Each
// node has its own contribution; these add up to the latency.
#ifndef COBRA_LAB_VARIANTS_NETWORK_FIT_H_
#define COBRA_LAB_VARIANTS_NETWORK_FIT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lab/variants/network_set.h"

namespace cobra::lab {

struct NetworkFitOptions {
  int64_t width = 64, layers = 2;
  int epochs = 24, batch = 16;  // networks a step
  double learning_rate = 2e-3, weight_decay = 1e-2, warmup = 0.05, average_decay = 0.98;
  double node_weight = 0.3;  // weight of the calls' errors relative to the network's
  uint64_t seed = 1;
};
struct NetworkFit {
  std::vector<double> latency_us;  // of each of set.networks
  int64_t parameters = 0;
};
// Trains on `train`, of any spaces. The error is that of log-latency; half of a call's weight is
// its share of the latency (model/training/batch.h).
absl::StatusOr<NetworkFit> FitNetworks(const NetworkSet& set, absl::Span<const size_t> train,
                                       const NetworkFitOptions& options);

}  // namespace cobra::lab

#endif  // COBRA_LAB_VARIANTS_NETWORK_FIT_H_
