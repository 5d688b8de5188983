#include "model/net/cobra_net.h"

#include <algorithm>

namespace cobra {

CobraNet::CobraNet(const NetConfig& config, int64_t num_targets)
    : encoder(register_module("encoder", std::make_shared<Encoder>(config))),
      layer_head(register_module("layer_head", std::make_shared<LayerHead>(config))),
      graph_net(register_module("graph_net", std::make_shared<GraphNet>(config))),
      target_vectors(register_parameter("target_vectors", at::zeros({num_targets, kLearnedTargetFeatures}))) {}

at::Tensor CobraNet::TargetFeatures(const at::Tensor& spec, const at::Tensor& index) const {
  return at::cat({spec, target_vectors.index_select(0, index)}, 1);
}

std::pair<at::Tensor, at::Tensor> CollateTokens(absl::Span<const std::vector<Token>* const> layers) {
  size_t longest = 1;
  for (const auto* tokens : layers) longest = std::max(longest, tokens->size());
  const int64_t n = static_cast<int64_t>(layers.size()), length = static_cast<int64_t>(longest);
  at::Tensor ids = at::zeros({n, length}, at::kLong);
  at::Tensor values = at::zeros({n, length, kNumValueFeatures}, at::kFloat);
  int64_t* id = ids.data_ptr<int64_t>();
  float* value = values.data_ptr<float>();
  for (int64_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < layers[i]->size(); ++k) {
      const Token& token = (*layers[i])[k];
      id[i * length + static_cast<int64_t>(k)] = token.id;
      if (!token.numeric) continue;
      const auto features = ValueFeatures(token.value);
      std::copy(features.begin(), features.end(), value + (i * length + static_cast<int64_t>(k)) * kNumValueFeatures);
    }
  }
  return {std::move(ids), std::move(values)};
}

}  // namespace cobra
