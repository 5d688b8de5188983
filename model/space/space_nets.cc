#include "model/space/space_nets.h"

#include <string>

namespace cobra::space {
namespace nn = torch::nn;

AdditiveNet::AdditiveNet(const AdditiveNetOptions& o)
    : options_(o), input_(o.kinds, o.width), norm_(nn::LayerNormOptions({o.width})), out_(o.width, 1) {
  register_module("input", input_);
  const auto linear = [&](const std::string& name, bool bias) {
    return register_module(name, nn::Linear(nn::LinearOptions(o.width, o.width).bias(bias)));
  };
  for (int64_t i = 0; i < o.layers; ++i) {
    const std::string prefix = "layer" + std::to_string(i) + "_";
    Layer layer;
    layer.norm = register_module(prefix + "norm", nn::LayerNorm(nn::LayerNormOptions({o.width})));
    layer.self = linear(prefix + "self", true);
    if (o.along) layer.along = linear(prefix + "along", false);
    if (o.against) layer.against = linear(prefix + "against", false);
    if (o.global) layer.global = linear(prefix + "global", false);
    layer.out = linear(prefix + "out", true);
    layers_.push_back(layer);
  }
  register_module("norm", norm_);
  register_module("out", out_);
}

at::Tensor AdditiveNet::LogLatency(const DenseGraphs& g) {
  const at::Tensor present = g.present.unsqueeze(-1), backwards = g.adjacency.transpose(1, 2);
  at::Tensor h = input_(g.kinds);
  for (Layer& layer : layers_) {
    const at::Tensor x = layer.norm(h) * present;
    at::Tensor y = layer.self(x);
    if (options_.along) y = y + at::matmul(g.adjacency, layer.along(x));
    if (options_.against) y = y + at::matmul(backwards, layer.against(x));
    if (options_.global) y = y + layer.global(x.sum(1, /*keepdim=*/true) / 4);
    h = h + layer.out(at::gelu(y));
  }
  if (!options_.additive) return out_(norm_((h * present).sum(1))).squeeze(-1);
  const at::Tensor contribution = at::softplus(out_(norm_(h)).squeeze(-1)) * g.present;
  return contribution.sum(1).log();
}

}  // namespace cobra::space
