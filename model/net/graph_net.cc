#include "model/net/graph_net.h"

#include "model/net/rows.h"

namespace cobra::net {
namespace nn = torch::nn;

GraphConvolution::GraphConvolution(int64_t width, int64_t target_features, bool has_global_node)
    : norm_(nn::LayerNormOptions({width})),
      self_(width, width),
      along_(nn::LinearOptions(width, width).bias(false)),
      against_(nn::LinearOptions(width, width).bias(false)),
      global_(has_global_node ? nn::Linear(nn::LinearOptions(width, width).bias(false)) : nn::Linear(nullptr)),
      out_(width, width),
      target_gain_(nn::LinearOptions(target_features, width).bias(false)) {
  register_module("norm", norm_);
  register_module("self", self_);
  register_module("along", along_);
  register_module("against", against_);
  if (has_global_node) register_module("global", global_);
  register_module("out", out_);
  register_module("target_gain", target_gain_);
  at::NoGradGuard no_grad;
  target_gain_->weight.zero_();  // all targets start alike
}

at::Tensor GraphConvolution::forward(const at::Tensor& h, const GraphBatch& b) {
  const at::Tensor x = norm_(h) * TakeRows(1 + target_gain_(b.target_features), b.graph_of_node);
  at::Tensor y = self_(x);
  y = y + SumRows(TakeRows(along_(x), b.sources), b.destinations, x.size(0));
  y = y + SumRows(TakeRows(against_(x), b.destinations), b.sources, x.size(0));
  if (!global_.is_empty()) y = y + TakeRows(global_(MeanOfNodes(x, b)), b.graph_of_node);
  return h + out_(at::gelu(y));
}

GlobalGraphNet::GlobalGraphNet(const NetConfig& c)
    : input_(c.width, c.graph_width),
      alone_(1, c.graph_width),
      target_(nn::LinearOptions(c.target_features, c.graph_width).bias(false)),
      graph_(nn::LinearOptions(c.graph_features, c.graph_width).bias(false)),
      run_(c.target_features, 1),
      norm_(nn::LayerNormOptions({c.graph_width})),
      out_(c.graph_width, 1),
      target_gain_(nn::LinearOptions(c.target_features, c.graph_width).bias(false)) {
  register_module("input", input_);
  register_module("alone", alone_);
  register_module("target", target_);
  register_module("graph", graph_);
  register_module("run", run_);
  for (int64_t i = 0; i < c.graph_layers; ++i) {
    convolutions_.push_back(register_module(
        "convolution" + std::to_string(i),
        std::make_shared<GraphConvolution>(c.graph_width, c.target_features, /*has_global_node=*/true)));
  }
  register_module("norm", norm_);
  register_module("out", out_);
  register_module("target_gain", target_gain_);
  at::NoGradGuard no_grad;
  target_gain_->weight.zero_();
  run_->weight.zero_();
  run_->bias.fill_(kFirstLogRun / kRunUnit);
  // Start from the assumption that a layer takes the same time in a network as alone.
  out_->weight.mul_(0.1);
  out_->bias.zero_();
}

at::Tensor GlobalGraphNet::forward(const at::Tensor& layers, const at::Tensor& alone, const GraphBatch& b,
                                   const at::Tensor& layer_of_node) {
  const at::Tensor context = target_(b.target_features) + graph_(b.graph_features);
  at::Tensor h = TakeRows(input_(layers), layer_of_node) + alone_((alone.unsqueeze(-1) - 4.0) / 4.0) +
                 TakeRows(context, b.graph_of_node);
  for (auto& convolution : convolutions_) h = convolution->forward(h, b);
  const at::Tensor nodes = norm_(h) * TakeRows(1 + target_gain_(b.target_features), b.graph_of_node);
  return WithRun(LogContributions(nodes, alone, b), run_(b.target_features).squeeze(-1), b);
}

at::Tensor GlobalGraphNet::LogContributions(const at::Tensor& nodes, const at::Tensor& alone,
                                            const GraphBatch& /*batch*/) {
  return alone + out_(nodes).squeeze(-1);
}

at::Tensor WithRun(const at::Tensor& log_contributions, const at::Tensor& log_run, const GraphBatch& b) {
  const at::Tensor run = kRunUnit * log_run;
  const at::Tensor calls = SumContributions(log_contributions, b).log();
  return log_contributions + at::softplus(run - calls).index_select(0, b.graph_of_node);
}

at::Tensor NodesPerGraph(const GraphBatch& b, const at::Tensor& like) {
  const at::Tensor ones = at::ones(b.graph_of_node.sizes(), like.options());
  return at::zeros({b.graph_features.size(0)}, like.options()).index_add(0, b.graph_of_node, ones);
}

at::Tensor MeanOfNodes(const at::Tensor& nodes, const GraphBatch& b) {
  const at::Tensor count = NodesPerGraph(b, nodes).unsqueeze(-1);
  return SumRows(nodes, b.graph_of_node, count.size(0)) / count;
}

at::Tensor SumContributions(const at::Tensor& log_contributions, const GraphBatch& b) {
  return at::zeros({b.graph_features.size(0)}, log_contributions.options())
      .index_add(0, b.graph_of_node, log_contributions.exp());
}

at::Tensor ShareWeightedMean(const at::Tensor& layers, const at::Tensor& log_contributions, const GraphBatch& b) {
  const at::Tensor share =
      (log_contributions - SumContributions(log_contributions, b).log().index_select(0, b.graph_of_node)).exp();
  return SumRows(layers * share.unsqueeze(-1), b.graph_of_node, b.graph_features.size(0));
}

}  // namespace cobra::net
