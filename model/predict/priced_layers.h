// Layers on targets: what each takes alone and its state in the graph network before it knows its
// network, kept for other networks. A search asks about thousands of networks of the same layers on
// one target; then only what differs between networks is left to compute. Any thread.
#ifndef COBRA_MODEL_PREDICT_PRICED_LAYERS_H_
#define COBRA_MODEL_PREDICT_PRICED_LAYERS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes/cache_stats.h"
#include "base/bytes/clock_cache.h"
#include "base/bytes/hash.h"
#include "model/infer/contributions.h"
#include "model/predict/network_inputs.h"
#include "model/predict/network_prices.h"
#include "model/predict/target/target.h"

namespace cobra::predict {

class PricedLayers : public NetworkPrices {
 public:
  PricedLayers(infer::ContributionNet net, int64_t cache_bytes);

  infer::NetworkContributions Contribute(const NetworkInputs& inputs, const CallRows& rows, int target,
                                         const TargetSpec& spec) override;
  CacheStats stats() override { return layers_.stats(); }
  void Clear() override;

 private:
  struct Target {
    Hash128 key;
    infer::TargetTerms terms;
  };

  std::shared_ptr<const Target> TargetOf(int target, const TargetSpec& spec);
  // One for each of the rows. They are the same bits whether or not they are known.
  std::vector<std::shared_ptr<const infer::PricedLayer>> Of(const NetworkInputs& inputs, const CallRows& rows,
                                                            const Target& target);

  const infer::ContributionNet net_;
  ClockCache<Target> targets_;
  ClockCache<infer::PricedLayer> layers_;
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_PRICED_LAYERS_H_
