#include "model/net/layer_head.h"

#include "model/net/rows.h"

namespace cobra::net {
namespace nn = torch::nn;

namespace {
constexpr double kUnitPrice = -11, kCallPrice = 1;  // initial log(us): 60 units of a kind per nanosecond; 3 us
}  // namespace

PriceHead::PriceHead(const NetConfig& c)
    : hidden_(c.width, c.width),
      target_(nn::LinearOptions(c.target_features, c.width).bias(false)),
      hidden2_(c.width, c.width),
      out_(c.width, c.work_terms),
      work_(nn::LinearOptions(c.work_terms, c.width).bias(false)),
      target_gain_(nn::LinearOptions(c.target_features, c.width).bias(false)),
      target_prices_(nn::LinearOptions(c.target_features, c.work_terms).bias(false)) {
  register_module("hidden", hidden_);
  register_module("target", target_);
  register_module("work", work_);
  register_module("hidden2", hidden2_);
  register_module("out", out_);
  register_module("target_gain", target_gain_);
  register_module("target_prices", target_prices_);
  at::NoGradGuard no_grad;
  // A fast and a slow core differ by a factor of ten, which is soon learned.
  out_->bias.fill_(kUnitPrice);
  out_->bias[0] = kCallPrice;
  // All targets start alike.
  target_gain_->weight.zero_();
  target_prices_->weight.zero_();
}

void PriceHead::SetPrice(int64_t kind, double log_price) {
  at::NoGradGuard no_grad;
  out_->weight[kind].zero_();
  out_->bias[kind].fill_(log_price);
  target_prices_->weight[kind].zero_();
}

void PriceHead::PriceByTarget(int64_t kind) {
  at::NoGradGuard no_grad;
  out_->weight[kind].zero_();
}

bool PriceHead::IsPricedByTarget(int64_t kind) const { return out_->weight[kind].count_nonzero().item<int64_t>() == 0; }

at::Tensor PriceHead::forward(const at::Tensor& layers, const at::Tensor& work, const at::Tensor& target,
                              const RowsOfCalls& rows) {
  // Whether data fits into a cache depends on amounts, which the embedding has only as words.
  const auto of_target = [&rows](const at::Tensor& values) { return TakeRows(values, rows.target); };
  const at::Tensor h =
      TakeRows(hidden_(layers), rows.layer) + of_target(target_(target)) + work_(work.clamp_min(0) / 10);
  const at::Tensor log_price =
      out_(at::gelu(hidden2_(at::gelu(h))) * of_target(1 + target_gain_(target))) + of_target(target_prices_(target));
  return (log_price + work).logsumexp(-1);
}

}  // namespace cobra::net
