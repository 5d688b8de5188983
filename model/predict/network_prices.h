// From the layers of a network to what each of its calls contributes on a target. What follows from
// less than the network is kept for other networks. Any thread.
#ifndef COBRA_MODEL_PREDICT_NETWORK_PRICES_H_
#define COBRA_MODEL_PREDICT_NETWORK_PRICES_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "base/bytes/cache_stats.h"
#include "model/infer/contributions.h"
#include "model/infer/linear.h"
#include "model/predict/network_inputs.h"
#include "model/predict/target/target.h"
#include "model/predict/weights/manifest.h"

namespace cobra::predict {

class NetworkPrices {
 public:
  // By the form of the version's graph network. The references need not outlive it.
  static absl::StatusOr<std::unique_ptr<NetworkPrices>> Create(const infer::Tensors& tensors, const Manifest& manifest,
                                                               int64_t cache_bytes);
  virtual ~NetworkPrices() = default;

  // `target`: the number of a trained one; `spec`: its own specification or another. The same bits
  // whatever is known.
  virtual infer::NetworkContributions Contribute(const NetworkInputs& inputs, const CallRows& rows, int target,
                                                 const TargetSpec& spec) = 0;
  virtual CacheStats stats() = 0;
  virtual void Clear() = 0;
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_NETWORK_PRICES_H_
