// The transformer encoder over one layer's tokens (COBRA, section 3): token embeddings, pre-norm multi-head attention
// blocks, mean pooling, and a head for the log-latency of the layer alone. The position of a token is part of its id
// (model/text/tokenizer.h), so there is no positional encoding beside it. The encoder does not see the target: its
// output is cached per layer.
#ifndef COBRA_MODEL_NET_ENCODER_H_
#define COBRA_MODEL_NET_ENCODER_H_

#include <torch/nn/module.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <vector>

#include "model/net/config.h"

namespace cobra::net {

class AttentionBlock : public torch::nn::Module {
 public:
  AttentionBlock(int64_t width, int64_t heads, int64_t feed_forward);
  // x: [batch, tokens, width]; attention_bias: [batch, 1, 1, tokens], 0 or -inf where padded.
  at::Tensor forward(at::Tensor x, const at::Tensor& attention_bias);

 private:
  int64_t heads_;
  torch::nn::LayerNorm norm1_, norm2_;
  torch::nn::Linear qkv_, out_, up_, down_;
};

class Encoder : public torch::nn::Module {
 public:
  explicit Encoder(const NetConfig& config);
  // ids: int64 [batch, tokens], 0 = padding; values: float [batch, tokens, value_features], 0 where the token is no
  // number. Returns [batch, width].
  at::Tensor forward(const at::Tensor& ids, const at::Tensor& values);
  // Before the pooling: [batch, tokens, width]. What pre-training reads masked numbers from.
  at::Tensor Tokens(const at::Tensor& ids, const at::Tensor& values);

 private:
  torch::nn::Embedding token_, gate_;
  torch::nn::Linear value_;
  std::vector<std::shared_ptr<AttentionBlock>> blocks_;
  torch::nn::LayerNorm norm_;
};

// log-latency (natural, microseconds) of a layer alone on a target. With NetConfig::prices it is a price a unit for
// each kind of work, the amounts priced and added up: a price hardly depends on sizes, so that it holds between and
// beyond those that were measured, where a number read off the embedding alone drifts.
class LayerHead : public torch::nn::Module {
 public:
  explicit LayerHead(const NetConfig& config);
  // layers: [n, width]; work: [n, work terms]; target: [n, target_features]. Returns [n].
  at::Tensor forward(const at::Tensor& layers, const at::Tensor& work, const at::Tensor& target);

 private:
  const bool prices_;
  torch::nn::Linear hidden_, target_, work_{nullptr}, hidden2_, out_;
};

}  // namespace cobra::net

#endif  // COBRA_MODEL_NET_ENCODER_H_
