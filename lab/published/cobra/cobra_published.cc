#include "lab/published/cobra/cobra_published.h"

#include <cmath>
#include <string>

namespace cobra::lab {
namespace nn = torch::nn;

PublishedBlock::PublishedBlock(const PublishedEncoderConfig& c)
    : heads_(c.heads),
      norm1_(nn::LayerNormOptions({c.width})),
      norm2_(nn::LayerNormOptions({c.width})),
      qkv_(c.width, 3 * c.width),
      out_(c.width, c.width),
      up_(c.width, c.feed_forward),
      down_(c.feed_forward, c.width),
      dropout_(c.dropout) {
  register_module("norm1", norm1_);
  register_module("norm2", norm2_);
  register_module("qkv", qkv_);
  register_module("out", out_);
  register_module("up", up_);
  register_module("down", down_);
  register_module("dropout", dropout_);
}

at::Tensor PublishedBlock::forward(const at::Tensor& x, const at::Tensor& bias) {
  const int64_t batch = x.size(0), tokens = x.size(1), width = x.size(2), head = width / heads_;
  const at::Tensor qkv = qkv_(norm1_(x)).view({batch, tokens, 3, heads_, head}).permute({2, 0, 3, 1, 4});
  const at::Tensor scores =
      at::matmul(qkv[0] * (1.0 / std::sqrt(static_cast<double>(head))), qkv[1].transpose(-2, -1)) + bias;
  const at::Tensor mixed =
      at::matmul(dropout_(scores.softmax(-1)), qkv[2]).transpose(1, 2).reshape({batch, tokens, width});
  const at::Tensor y = x + dropout_(out_(mixed));
  return y + dropout_(down_(at::gelu(up_(norm2_(y)))));
}

PublishedNet::PublishedNet(const PublishedEncoderConfig& c, int64_t vocabulary_size)
    : token_(vocabulary_size, c.width),
      position_(c.max_tokens, c.width),
      norm_(nn::LayerNormOptions({c.width})),
      dropout_(c.dropout),
      hidden_(c.width, c.latency_hidden),
      latency_(c.latency_hidden, 1),
      pieces_(c.width, vocabulary_size) {
  register_module("token", token_);
  register_module("position", position_);
  for (int64_t i = 0; i < c.layers; ++i)
    blocks_.push_back(register_module("block" + std::to_string(i), std::make_shared<PublishedBlock>(c)));
  register_module("norm", norm_);
  register_module("dropout", dropout_);
  register_module("hidden", hidden_);
  register_module("latency", latency_);
  register_module("pieces", pieces_);
  at::NoGradGuard no_grad;
  for (auto& parameter : named_parameters()) {
    const bool is_norm = parameter.key().find("norm") != std::string::npos;
    if (parameter.value().dim() == 2) parameter.value().normal_(0, 0.02);
    if (parameter.value().dim() == 1 && !is_norm) parameter.value().zero_();
  }
}

at::Tensor PublishedNet::Tokens(const at::Tensor& ids, const at::Tensor& keep) {
  at::Tensor x = dropout_(token_(ids) + position_(at::arange(ids.size(1), at::kLong)));
  const at::Tensor bias = ((1 - keep) * -1e9).unsqueeze(1).unsqueeze(1);
  for (auto& block : blocks_) x = block->forward(x, bias);
  return norm_(x);
}

at::Tensor PublishedNet::Pool(const at::Tensor& tokens, const at::Tensor& keep) {
  return (tokens * keep.unsqueeze(-1)).sum(1) / keep.sum(1, /*keepdim=*/true).clamp_min(1);
}

at::Tensor PublishedNet::LogLatency(const at::Tensor& pooled) {
  return latency_(at::relu(hidden_(pooled))).squeeze(-1);
}

void PublishedNet::CentreLatency(double log_latency) {
  at::NoGradGuard no_grad;
  latency_->bias.fill_(log_latency);
}

at::Tensor PublishedNet::PieceScores(const at::Tensor& tokens) { return pieces_(tokens); }

}  // namespace cobra::lab
