// All networks of one model version, and the tensors of a batch. Includes LibTorch headers.
#ifndef COBRA_MODEL_NET_COBRA_NET_H_
#define COBRA_MODEL_NET_COBRA_NET_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "model/net/encoder.h"
#include "model/net/graph_net.h"
#include "model/net/layer_head.h"
#include "model/text/tokenizer.h"

namespace cobra::net {

struct NetParts {
  std::shared_ptr<Encoder> encoder;
  std::shared_ptr<LayerHead> layer_head;
  std::shared_ptr<GraphNet> graph_net;
};

struct CobraNet : public torch::nn::Module {
  CobraNet(const NetConfig& config, int64_t num_targets);
  // With other parts than those that serve: a variant (evaluation/variants/).
  CobraNet(NetParts parts, int64_t num_targets);
  // spec: [n, target_features - kLearnedTargetFeatures], index: int64 [n]. Returns [n, target_features].
  virtual at::Tensor TargetFeatures(const at::Tensor& spec, const at::Tensor& index) const;

  std::shared_ptr<Encoder> encoder;
  std::shared_ptr<LayerHead> layer_head;
  std::shared_ptr<GraphNet> graph_net;
  at::Tensor target_vectors;  // [num_targets, kLearnedTargetFeatures]
};

// Token lists padded to the longest: int64 [n, tokens] and float [n, tokens, kNumValueFeatures].
std::pair<at::Tensor, at::Tensor> CollateTokens(absl::Span<const std::vector<text::Token>* const> layers);

// Encodes token lists: [n, width], in their order. Lists of similar length are batched, at most `batch` at a time: most
// calls have 25 tokens, a few 128, and padding all to the longest costs four times the work.
at::Tensor EncodeTexts(Encoder& encoder, absl::Span<const std::vector<text::Token>* const> texts, int64_t batch = 256);

}  // namespace cobra::net

#endif  // COBRA_MODEL_NET_COBRA_NET_H_
