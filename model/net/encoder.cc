#include "model/net/encoder.h"

#include <string>

#include "model/net/sequences.h"

namespace cobra::net {
namespace nn = torch::nn;

AttentionBlock::AttentionBlock(int64_t width, int64_t heads, int64_t feed_forward)
    : heads_(heads),
      norm1_(nn::LayerNormOptions({width})),
      norm2_(nn::LayerNormOptions({width})),
      qkv_(width, 3 * width),
      out_(width, width),
      up_(width, feed_forward),
      down_(feed_forward, width) {
  register_module("norm1", norm1_);
  register_module("norm2", norm2_);
  register_module("qkv", qkv_);
  register_module("out", out_);
  register_module("up", up_);
  register_module("down", down_);
}

at::Tensor AttentionBlock::forward(at::Tensor x, const std::vector<int64_t>& ends) {
  x = x + out_(Attention(qkv_(norm1_(x)), ends, heads_));
  return x + down_(at::gelu(up_(norm2_(x))));
}

Encoder::Encoder(const NetConfig& c)
    : token_(nn::EmbeddingOptions(c.vocabulary_size, c.width)),
      gate_(nn::EmbeddingOptions(c.vocabulary_size, c.width)),
      value_(c.value_features, c.width),
      norm_(nn::LayerNormOptions({c.width})) {
  register_module("token", token_);
  register_module("gate", gate_);
  register_module("value", value_);
  for (int64_t i = 0; i < c.encoder_layers; ++i) {
    blocks_.push_back(register_module("block" + std::to_string(i),
                                      std::make_shared<AttentionBlock>(c.width, c.heads, c.feed_forward)));
  }
  register_module("norm", norm_);
  at::NoGradGuard no_grad;
  token_->weight.mul_(0.5);
  gate_->weight.mul_(0.1);
}

at::Tensor Encoder::Tokens(const PackedTokens& calls) {
  // The features of a number pass through a map shared by all numbers, scaled by a gate of the
  // number's token.
  at::Tensor x = token_(calls.ids) + value_(calls.values) * (1 + gate_(calls.ids));
  for (auto& block : blocks_) x = block->forward(x, calls.ends);
  return x;
}

at::Tensor Encoder::forward(const PackedTokens& calls) { return norm_(MeanOfEach(Tokens(calls), calls.ends)); }

}  // namespace cobra::net
