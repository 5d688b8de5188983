// HAT's latency predictor (Wang et al., "HAT: Hardware-Aware Transformers", ACL 2020, section 3.2;
// latency_predictor.py and configs/*/latency_predictor of its repository).
#ifndef COBRA_LAB_PUBLISHED_NETWORKS_HAT_NET_H_
#define COBRA_LAB_PUBLISHED_NETWORKS_HAT_NET_H_

#include <cstdint>
#include <vector>

#include "model/space/models/hat_space.h"

namespace cobra::lab {

// As published: the ten features divided by fixed norms; a layer to 400, three of 400 x 400, each
// with ReLU, and one to the latency over `norm_ms`. Squared error, Adam at 1e-5, 5,000 steps of 128
// rows drawn without replacement; the last weights are used (its validation rows are only
// reported).
struct HatNetOptions {
  int64_t width = 400, layers = 3, batch = 128, steps = 5000;
  double learning_rate = 1e-5;
  double norm_ms = 200;  // theirs: 200 on the GPU, 5000 on the Raspberry Pi
  uint64_t seed = 1;
};
struct HatNetFit {
  // Of each of `all`; at least a tenth of the least training latency
  std::vector<double> latency_ms;
  int64_t parameters = 0;
};
HatNetFit FitHatNet(const std::vector<space::HatFeatures>& train, const std::vector<double>& latency_ms,
                    const std::vector<space::HatFeatures>& all, const HatNetOptions& options);

}  // namespace cobra::lab

#endif  // COBRA_LAB_PUBLISHED_NETWORKS_HAT_NET_H_
