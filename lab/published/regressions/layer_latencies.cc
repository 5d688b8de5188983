#include "lab/published/regressions/layer_latencies.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "graph/builder/extract.h"
#include "graph/form/fingerprint.h"
#include "lab/published/regressions/cost_features.h"
#include "model/text/canonical_text.h"

namespace cobra::lab {
namespace {

// One distinct call of the networks.
struct LayerEstimate {
  double measured_us = 0;  // 0: never measured alone
  double predicted_us = 0;
};

class LayerLatencyEstimator {
 public:
  explicit LayerLatencyEstimator(const training::Dataset& data) {
    for (const training::Sample& s : data.samples) {
      if (s.is_network()) continue;
      measured_.try_emplace(s.fingerprint(), s.latency_us());
      if (s.split != training::Split::kTrain) continue;
      train_.push_back(LayerFeatures(s.graph()));
      latency_us_.push_back(s.latency_us());
    }
  }

  // Returns the index of each call among the distinct ones; -1 for a call that takes no time.
  absl::StatusOr<std::vector<int64_t>> Add(const graph::Graph& network) {
    std::vector<int64_t> places;
    for (int32_t i = 0; i < static_cast<int32_t>(network.nodes().size()); ++i) {
      const graph::Node& node = network.nodes()[static_cast<size_t>(i)];
      if (graph::IsView(node) || graph::IsAlias(network, node)) {
        places.push_back(-1);
        continue;
      }
      const auto [it, inserted] =
          place_.try_emplace(text::CanonicalText(network, i), static_cast<int64_t>(prices_.size()));
      places.push_back(it->second);
      if (!inserted) continue;
      COBRA_ASSIGN_OR_RETURN(const graph::Graph layer, graph::ExtractLayer(network, i));
      const auto found = measured_.find(graph::Fingerprint(layer).ToHex());
      prices_.push_back({found == measured_.end() ? 0 : found->second, 0});
      features_.push_back(LayerFeatures(layer));
    }
    return places;
  }

  absl::Status Predict(const TreeOptions& trees) {
    COBRA_ASSIGN_OR_RETURN(const std::vector<double> us, FitTrees(train_, latency_us_, features_, trees));
    for (size_t i = 0; i < us.size(); ++i) prices_[i].predicted_us = us[i];
    return absl::OkStatus();
  }

  const LayerEstimate& at(int64_t place) const { return prices_[static_cast<size_t>(place)]; }
  bool has_rows() const { return !train_.empty(); }

 private:
  absl::flat_hash_map<std::string, double> measured_;  // by fingerprint
  FeatureRows train_, features_;
  std::vector<double> latency_us_;
  absl::flat_hash_map<std::string, int64_t> place_;  // by canonical text
  std::vector<LayerEstimate> prices_;
};

}  // namespace

absl::StatusOr<LayerLatencies> EstimateLayerLatencies(const training::Dataset& data,
                                                      const std::vector<const training::Sample*>& networks,
                                                      const TreeOptions& trees) {
  LayerLatencyEstimator pricing(data);
  if (!pricing.has_rows())
    return absl::NotFoundError("the measurements have no layers to price the calls of networks by");
  std::vector<std::vector<int64_t>> places;
  for (const training::Sample* network : networks) {
    COBRA_ASSIGN_OR_RETURN(places.emplace_back(), pricing.Add(network->graph()));
  }
  COBRA_RETURN_IF_ERROR(pricing.Predict(trees));
  LayerLatencies prices;
  for (const std::vector<int64_t>& of_network : places) {
    std::vector<double>& looked_up = prices.looked_up.emplace_back();
    std::vector<double>& predicted = prices.predicted.emplace_back();
    double sum = 0, measured = 0;
    for (int64_t place : of_network) {
      const LayerEstimate price = place < 0 ? LayerEstimate{} : pricing.at(place);
      predicted.push_back(price.predicted_us);
      looked_up.push_back(price.measured_us > 0 ? price.measured_us : price.predicted_us);
      sum += looked_up.back();
      measured += price.measured_us;
    }
    prices.measured_share.push_back(sum > 0 ? measured / sum : 0);
  }
  return prices;
}

double FitSumScale(const std::vector<double>& sums, const std::vector<double>& measured) {
  std::vector<double> ratios;
  for (size_t i = 0; i < sums.size(); ++i) ratios.push_back(measured[i] / sums[i]);
  return ratios.empty() ? 1 : UpperMedian(std::move(ratios));
}

}  // namespace cobra::lab
