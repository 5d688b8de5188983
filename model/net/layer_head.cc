#include "model/net/layer_head.h"

namespace cobra::net {
namespace nn = torch::nn;

namespace {
constexpr double kUnitPrice = -11, kCallPrice = 1;  // log(us) at which training begins: 60 of a kind a nanosecond; 3 us
}  // namespace

PriceHead::PriceHead(const NetConfig& c)
    : hidden_(c.width, c.width),
      target_(nn::LinearOptions(c.target_features, c.width).bias(false)),
      hidden2_(c.width, c.width),
      out_(c.width, c.work_terms),
      work_(nn::LinearOptions(c.work_terms, c.width).bias(false)) {
  register_module("hidden", hidden_);
  register_module("target", target_);
  register_module("work", work_);
  register_module("hidden2", hidden2_);
  register_module("out", out_);
  at::NoGradGuard no_grad;
  // A fast and a slow core are a factor of ten apart, which is soon learned.
  out_->bias.fill_(kUnitPrice);
  out_->bias[0] = kCallPrice;
}

at::Tensor PriceHead::forward(const at::Tensor& layers, const at::Tensor& work, const at::Tensor& target) {
  // Whether something fits a cache is a matter of amounts, which the embedding has in words only.
  const at::Tensor h = hidden_(layers) + target_(target) + work_(work.clamp_min(0) / 10);
  const at::Tensor log_price = out_(at::gelu(hidden2_(at::gelu(h))));
  return (log_price + work).logsumexp(-1);
}

}  // namespace cobra::net
