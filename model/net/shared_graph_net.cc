#include "model/net/shared_graph_net.h"

#include <string>

#include "model/net/rows.h"

namespace cobra::net {
namespace nn = torch::nn;

namespace {

nn::LinearOptions Unbiased(int64_t in, int64_t out) { return nn::LinearOptions(in, out).bias(false); }

}  // namespace

SharedGraphNet::SharedGraphNet(const NetConfig& c)
    : input_(c.width, c.graph_width),
      alone_(1, c.graph_width),
      target_(Unbiased(c.target_features, c.graph_width)),
      run_(c.target_features, 1),
      norm_(nn::LayerNormOptions({c.graph_width})),
      target_gain_(Unbiased(c.target_features, c.graph_width)),
      out_(c.graph_width, 1),
      totals_(c.graph_features, c.graph_width),
      whole_target_(Unbiased(c.target_features, c.graph_width)),
      mean_(Unbiased(c.graph_width, c.graph_width)),
      weighted_(Unbiased(c.graph_width, c.graph_width)),
      gain_(c.graph_width, c.graph_width),
      shift_(c.graph_width, c.graph_width),
      late_(c.graph_width, c.graph_width),
      late_out_(Unbiased(c.graph_width, 1)) {
  register_module("input", input_);
  register_module("alone", alone_);
  register_module("target", target_);
  register_module("run", run_);
  for (int64_t i = 0; i < c.graph_layers; ++i)
    convolutions_.push_back(register_module(
        "convolution" + std::to_string(i),
        std::make_shared<GraphConvolution>(c.graph_width, c.target_features, /*has_global_node=*/false)));
  register_module("norm", norm_);
  register_module("target_gain", target_gain_);
  register_module("out", out_);
  register_module("totals", totals_);
  register_module("whole_target", whole_target_);
  register_module("mean", mean_);
  register_module("weighted", weighted_);
  register_module("gain", gain_);
  register_module("shift", shift_);
  register_module("late", late_);
  register_module("late_out", late_out_);
  at::NoGradGuard no_grad;
  target_gain_->weight.zero_();
  run_->weight.zero_();
  run_->bias.fill_(kFirstLogRun / kRunUnit);
  // Start from the assumption that a layer takes the same time in a network as alone.
  out_->weight.mul_(0.1);
  out_->bias.zero_();
  late_out_->weight.mul_(0.1);
  gain_->weight.mul_(0.1);
  gain_->bias.zero_();
}

at::Tensor SharedGraphNet::forward(const at::Tensor& layers, const at::Tensor& alone, const GraphBatch& b,
                                   const at::Tensor& layer_of_node) {
  at::Tensor h = TakeRows(input_(layers), layer_of_node) + alone_((alone.unsqueeze(-1) - 4.0) / 4.0) +
                 TakeRows(target_(b.target_features), b.graph_of_node);
  for (auto& convolution : convolutions_) h = convolution->forward(h, b);
  const at::Tensor nodes = norm_(h) * TakeRows(1 + target_gain_(b.target_features), b.graph_of_node);
  const at::Tensor local = alone + out_(nodes).squeeze(-1);
  return WithRun(local + WholeChange(nodes, local, b), run_(b.target_features).squeeze(-1), b);
}

at::Tensor SharedGraphNet::WholeChange(const at::Tensor& nodes, const at::Tensor& local, const GraphBatch& b) {
  const at::Tensor whole = at::gelu(totals_(b.graph_features) + whole_target_(b.target_features) +
                                    mean_(MeanOfNodes(nodes, b)) + weighted_(ShareWeightedMean(nodes, local, b)));
  const at::Tensor gain = TakeRows(1 + gain_(whole), b.graph_of_node);
  const at::Tensor shift = TakeRows(shift_(whole), b.graph_of_node);
  return late_out_(at::gelu(late_(nodes) * gain + shift)).squeeze(-1);
}

}  // namespace cobra::net
