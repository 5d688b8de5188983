// The transformer encoder over one layer's tokens (COBRA, section 3): token embeddings, pre-norm
// multi-head attention blocks, mean pooling. The position of a token is part of its id
// (model/text/tokenizer.h), so there is no separate positional encoding. The encoder does not
// depend on the target, so its output is cached per layer. Includes LibTorch headers.
#ifndef COBRA_MODEL_NET_ENCODER_H_
#define COBRA_MODEL_NET_ENCODER_H_

#include <torch/nn/module.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "model/net/config.h"

namespace cobra::net {

class AttentionBlock : public torch::nn::Module {
 public:
  AttentionBlock(int64_t width, int64_t heads, int64_t feed_forward);
  // x: [tokens, width] of sequences that end before the rows `ends`.
  at::Tensor forward(at::Tensor x, const std::vector<int64_t>& ends);

 private:
  int64_t heads_;
  torch::nn::LayerNorm norm1_, norm2_;
  torch::nn::Linear qkv_, out_, up_, down_;
};

// Tokens of calls, one call behind the other.
struct PackedTokens {
  at::Tensor ids;             // int64 [tokens]
  at::Tensor values;          // float [tokens, value_features], 0 if the token is not a number
  std::vector<int64_t> ends;  // of each call: the number of tokens up to its last one
};

class Encoder : public torch::nn::Module {
 public:
  explicit Encoder(const NetConfig& config);
  // Returns [calls, width].
  at::Tensor forward(const PackedTokens& calls);
  // The same before the pooling: [tokens, width].
  at::Tensor Tokens(const PackedTokens& calls);
  // Where the weights are, and the inputs have to be.
  c10::Device device() const { return norm_->weight.device(); }

 private:
  torch::nn::Embedding token_, gate_;
  torch::nn::Linear value_;
  std::vector<std::shared_ptr<AttentionBlock>> blocks_;
  torch::nn::LayerNorm norm_;
};

}  // namespace cobra::net

#endif  // COBRA_MODEL_NET_ENCODER_H_
