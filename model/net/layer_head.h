// Predicts the latency of a layer that runs by itself on a target, from the encoder's vector and
// the amounts of work of the call: the prices of the work are what this network learns
// (model/training/training_run.cc). Includes LibTorch headers.
#ifndef COBRA_MODEL_NET_LAYER_HEAD_H_
#define COBRA_MODEL_NET_LAYER_HEAD_H_

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>

#include "model/net/config.h"

namespace cobra::net {

// Calls share vectors and targets: what depends only on these is computed once for all of them.
// int64 [calls]; undefined: each call has its own row.
struct RowsOfCalls {
  at::Tensor layer, target;
};

// A part of CobraNet. PriceHead is the one in production; lab/variants/ compares it with another.
class LayerHead : public torch::nn::Module {
 public:
  // layers: [vectors, width]; work: [calls, work terms], model/predict/work/features.h; target:
  // [targets, target_features]. Returns [calls]: log-latency (natural, microseconds).
  virtual at::Tensor forward(const at::Tensor& layers, const at::Tensor& work, const at::Tensor& target,
                             const RowsOfCalls& rows) = 0;
};

// Predicts a price per unit for each kind of work; the latency is the sum of amounts times prices.
// A price hardly depends on sizes. So it holds between and beyond the measured sizes, where a
// latency predicted directly from the embedding becomes wrong.
class PriceHead : public LayerHead {
 public:
  explicit PriceHead(const NetConfig& config);
  at::Tensor forward(const at::Tensor& layers, const at::Tensor& work, const at::Tensor& target,
                     const RowsOfCalls& rows) override;
  // Overwrites what was learned: one price for a kind of work, whatever the call and the target;
  // the logarithm of microseconds. Training goes on from there.
  void SetPrice(int64_t kind, double log_price);
  // Likewise: a price that differs between targets but not between calls.
  void PriceByTarget(int64_t kind);
  bool IsPricedByTarget(int64_t kind) const;

 private:
  torch::nn::Linear hidden_, target_, hidden2_, out_, work_, target_gain_, target_prices_;
};

}  // namespace cobra::net

#endif  // COBRA_MODEL_NET_LAYER_HEAD_H_
