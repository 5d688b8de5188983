#include "model/net/cobra_net.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "model/net/shared_graph_net.h"

namespace cobra::net {
namespace {

// That are encoded at a time. A processor's cache holds what becomes of a thousand; a GPU takes as
// long for a few.
constexpr int64_t kMostTokens = 1024, kMostTokensOfGpu = 65536;

std::shared_ptr<GraphNet> MakeGraphNet(const NetConfig& config) {
  if (config.shared_graph_net) return std::make_shared<SharedGraphNet>(config);
  return std::make_shared<GlobalGraphNet>(config);
}

}  // namespace

PackedTokens PackTokens(absl::Span<const std::vector<text::Token>* const> calls) {
  PackedTokens packed;
  int64_t end = 0;
  for (const auto* tokens : calls) packed.ends.push_back(end += static_cast<int64_t>(tokens->size()));
  packed.ids = at::empty({end}, at::kLong);
  packed.values = at::zeros({end, text::kNumValueFeatures}, at::kFloat);
  int64_t* id = packed.ids.data_ptr<int64_t>();
  float* value = packed.values.data_ptr<float>();
  for (const auto* tokens : calls) {
    for (const text::Token& token : *tokens) {
      *id++ = token.id;
      if (token.numeric) {
        const auto features = text::ValueFeatures(token.value);
        std::copy(features.begin(), features.end(), value);
      }
      value += text::kNumValueFeatures;
    }
  }
  return packed;
}

// The order of construction matters: the parts draw their initial weights from one sequence of
// random numbers.
CobraNet::CobraNet(const NetConfig& config, int64_t num_targets)
    : CobraNet(NetParts{std::make_shared<Encoder>(config), std::make_shared<PriceHead>(config), MakeGraphNet(config)},
               num_targets) {}

CobraNet::CobraNet(NetParts parts, int64_t num_targets)
    : encoder(register_module("encoder", std::move(parts.encoder))),
      layer_head(register_module("layer_head", std::move(parts.layer_head))),
      graph_net(register_module("graph_net", std::move(parts.graph_net))),
      target_vectors(register_parameter("target_vectors", at::zeros({num_targets, kLearnedTargetFeatures}))) {}

at::Tensor CobraNet::TargetFeatures(const at::Tensor& spec, const at::Tensor& index) const {
  return at::cat({spec, target_vectors.index_select(0, index)}, 1);
}

at::Tensor EncodeTexts(Encoder& encoder, absl::Span<const std::vector<text::Token>* const> texts) {
  const c10::Device device = encoder.device();
  const int64_t most = device.is_cuda() ? kMostTokensOfGpu : kMostTokens;
  std::vector<at::Tensor> parts;
  for (size_t begin = 0, end = 0; begin < texts.size(); begin = end) {
    for (int64_t tokens = 0; end < texts.size() && tokens < most; ++end)
      tokens += static_cast<int64_t>(texts[end]->size());
    PackedTokens packed = PackTokens(texts.subspan(begin, end - begin));
    packed.ids = packed.ids.to(device);
    packed.values = packed.values.to(device);
    parts.push_back(encoder.forward(packed));
  }
  return at::cat(parts);
}

}  // namespace cobra::net
