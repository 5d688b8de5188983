#include "model/net/encoder.h"

#include <cmath>

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

at::Tensor AttentionBlock::forward(at::Tensor x, const at::Tensor& attention_bias) {
  const int64_t batch = x.size(0), tokens = x.size(1), width = x.size(2), head = width / heads_;
  // [batch, tokens, 3, heads, head] -> three of [batch, heads, tokens, head]
  at::Tensor qkv = qkv_(norm1_(x)).view({batch, tokens, 3, heads_, head}).permute({2, 0, 3, 1, 4});
  at::Tensor scores = at::matmul(qkv[0] * (1.0 / std::sqrt(static_cast<double>(head))), qkv[1].transpose(-2, -1));
  at::Tensor mixed = at::matmul((scores + attention_bias).softmax(-1), qkv[2]);
  x = x + out_(mixed.transpose(1, 2).reshape({batch, tokens, width}));
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

at::Tensor Encoder::Tokens(const at::Tensor& ids, const at::Tensor& values) {
  // The features of a number pass through a map shared by all numbers, scaled by a gate of the number's token.
  at::Tensor x = token_(ids) + value_(values) * (1 + gate_(ids));
  const at::Tensor bias = at::zeros(ids.sizes(), x.options()).masked_fill_(ids == 0, -1e9).unsqueeze(1).unsqueeze(1);
  for (auto& block : blocks_) x = block->forward(x, bias);
  return x;
}

at::Tensor Encoder::forward(const at::Tensor& ids, const at::Tensor& values) {
  const at::Tensor x = Tokens(ids, values);
  const at::Tensor keep = (ids != 0).to(x.dtype()).unsqueeze(-1);
  // Mean pooling over the tokens that are not padding.
  return norm_((x * keep).sum(1) / keep.sum(1).clamp_min(1));
}

}  // namespace cobra::net
