#include "model/predict/network_prices.h"

#include <utility>

#include "base/status_macros.h"
#include "model/infer/shared_contributions.h"
#include "model/predict/neighbourhoods.h"
#include "model/predict/priced_layers.h"

namespace cobra::predict {

absl::StatusOr<std::unique_ptr<NetworkPrices>> NetworkPrices::Create(const infer::Tensors& tensors,
                                                                     const Manifest& manifest, int64_t cache_bytes) {
  const auto targets = static_cast<int64_t>(manifest.targets.size());
  if (manifest.net.shared_graph_net) {
    COBRA_ASSIGN_OR_RETURN(infer::SharedContributionNet net,
                           infer::SharedContributionNet::Create(tensors, manifest.net, targets));
    return std::make_unique<Neighbourhoods>(std::move(net), cache_bytes);
  }
  COBRA_ASSIGN_OR_RETURN(infer::ContributionNet net, infer::ContributionNet::Create(tensors, manifest.net, targets));
  return std::make_unique<PricedLayers>(std::move(net), cache_bytes);
}

}  // namespace cobra::predict
