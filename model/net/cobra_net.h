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
  // With other parts than those that serve: a variant (lab/variants/).
  CobraNet(NetParts parts, int64_t num_targets);
  // spec: [n, target_features - kLearnedTargetFeatures], index: int64 [n]. Returns [n,
  // target_features].
  virtual at::Tensor TargetFeatures(const at::Tensor& spec, const at::Tensor& index) const;

  std::shared_ptr<Encoder> encoder;
  std::shared_ptr<LayerHead> layer_head;
  std::shared_ptr<GraphNet> graph_net;
  at::Tensor target_vectors;  // [num_targets, kLearnedTargetFeatures]
};

PackedTokens PackTokens(absl::Span<const std::vector<text::Token>* const> calls);

// Encodes token lists: [n, width], in their order.
at::Tensor EncodeTexts(Encoder& encoder, absl::Span<const std::vector<text::Token>* const> texts);

}  // namespace cobra::net

#endif  // COBRA_MODEL_NET_COBRA_NET_H_
