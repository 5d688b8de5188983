#include "model/space/models/space_nets.h"

#include <string>
#include <utility>

namespace cobra::space {
namespace nn = torch::nn;

namespace {

at::Tensor Along(const DenseGraphs& g, const at::Tensor& nodes, nn::Linear& weights) {
  return at::matmul(g.adjacency, weights(nodes));
}
at::Tensor Against(const DenseGraphs& g, const at::Tensor& nodes, nn::Linear& weights) {
  return at::matmul(g.adjacency.transpose(1, 2), weights(nodes));
}
at::Tensor Global(const DenseGraphs& /*g*/, const at::Tensor& nodes, nn::Linear& weights) {
  return weights(nodes.sum(1, /*keepdim=*/true) / 4);
}

}  // namespace

const std::vector<AdditiveNet::Message>& AdditiveNet::AllMessages() {
  static const auto* messages = new std::vector<Message>{{"along", Along}, {"against", Against}, {"global", Global}};
  return *messages;
}

AdditiveNet::AdditiveNet(const AdditiveNetOptions& o, std::vector<Message> messages)
    : messages_(std::move(messages)),
      input_(o.kinds, o.width),
      norm_(nn::LayerNormOptions({o.width})),
      out_(o.width, 1) {
  register_module("input", input_);
  const auto linear = [&](const std::string& name, bool bias) {
    return register_module(name, nn::Linear(nn::LinearOptions(o.width, o.width).bias(bias)));
  };
  for (int64_t i = 0; i < o.layers; ++i) {
    const std::string prefix = "layer" + std::to_string(i) + "_";
    Layer layer;
    layer.norm = register_module(prefix + "norm", nn::LayerNorm(nn::LayerNormOptions({o.width})));
    layer.self = linear(prefix + "self", true);
    for (const Message& message : messages_) layer.messages.push_back(linear(prefix + message.name, false));
    layer.out = linear(prefix + "out", true);
    layers_.push_back(layer);
  }
  register_module("norm", norm_);
  register_module("out", out_);
}

at::Tensor AdditiveNet::LogLatency(const DenseGraphs& g) {
  const at::Tensor present = g.present.unsqueeze(-1);
  at::Tensor h = input_(g.kinds);
  for (Layer& layer : layers_) {
    const at::Tensor x = layer.norm(h) * present;
    at::Tensor y = layer.self(x);
    for (size_t m = 0; m < messages_.size(); ++m) y = y + messages_[m].receive(g, x, layer.messages[m]);
    h = h + layer.out(at::gelu(y));
  }
  return ReadOut(h, g);
}

at::Tensor AdditiveNet::ReadOut(const at::Tensor& nodes, const DenseGraphs& g) {
  const at::Tensor contribution = at::softplus(out_(norm_(nodes)).squeeze(-1)) * g.present;
  return contribution.sum(1).log();
}

}  // namespace cobra::space
