#include "model/net/cobra_net.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace cobra::net {
namespace {

constexpr int64_t kLargerBatchOfGpu = 16;

}  // namespace

std::pair<at::Tensor, at::Tensor> CollateTokens(absl::Span<const std::vector<text::Token>* const> layers) {
  size_t longest = 1;
  for (const auto* tokens : layers) longest = std::max(longest, tokens->size());
  const int64_t n = static_cast<int64_t>(layers.size()), length = static_cast<int64_t>(longest);
  at::Tensor ids = at::zeros({n, length}, at::kLong);
  at::Tensor values = at::zeros({n, length, text::kNumValueFeatures}, at::kFloat);
  int64_t* id = ids.data_ptr<int64_t>();
  float* value = values.data_ptr<float>();
  for (int64_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < layers[i]->size(); ++k) {
      const text::Token& token = (*layers[i])[k];
      id[i * length + static_cast<int64_t>(k)] = token.id;
      if (!token.numeric) continue;
      const auto features = text::ValueFeatures(token.value);
      std::copy(features.begin(), features.end(),
                value + (i * length + static_cast<int64_t>(k)) * text::kNumValueFeatures);
    }
  }
  return {std::move(ids), std::move(values)};
}

// The order of construction matters: the parts draw their initial weights from one sequence of random numbers.
CobraNet::CobraNet(const NetConfig& config, int64_t num_targets)
    : CobraNet(NetParts{std::make_shared<Encoder>(config), std::make_shared<PriceHead>(config),
                        std::make_shared<GraphNet>(config)},
               num_targets) {}

CobraNet::CobraNet(NetParts parts, int64_t num_targets)
    : encoder(register_module("encoder", std::move(parts.encoder))),
      layer_head(register_module("layer_head", std::move(parts.layer_head))),
      graph_net(register_module("graph_net", std::move(parts.graph_net))),
      target_vectors(register_parameter("target_vectors", at::zeros({num_targets, kLearnedTargetFeatures}))) {}

at::Tensor CobraNet::TargetFeatures(const at::Tensor& spec, const at::Tensor& index) const {
  return at::cat({spec, target_vectors.index_select(0, index)}, 1);
}

at::Tensor EncodeTexts(Encoder& encoder, absl::Span<const std::vector<text::Token>* const> texts, int64_t batch) {
  // A GPU takes as long for a few calls as for many.
  if (encoder.device().is_cuda()) batch *= kLargerBatchOfGpu;
  std::vector<int64_t> order(texts.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return texts[a]->size() < texts[b]->size(); });
  const c10::Device device = encoder.device();
  std::vector<at::Tensor> parts;
  at::Tensor place = at::empty({static_cast<int64_t>(texts.size())}, at::kLong);  // of each text in sorted order
  for (size_t begin = 0; begin < order.size();) {
    // A group ends before a text that would make the shortest one pad by more than half.
    const size_t limit = texts[order[begin]]->size() * 3 / 2 + 2;
    std::vector<const std::vector<text::Token>*> group;
    size_t end = begin;
    for (; end < order.size() && end - begin < static_cast<size_t>(batch) && texts[order[end]]->size() <= limit;
         ++end) {
      place.data_ptr<int64_t>()[order[end]] = static_cast<int64_t>(end);
      group.push_back(texts[order[end]]);
    }
    const auto [ids, values] = CollateTokens(group);
    parts.push_back(encoder.forward(ids.to(device), values.to(device)));
    begin = end;
  }
  return at::cat(parts).index_select(0, place.to(device));
}

}  // namespace cobra::net
