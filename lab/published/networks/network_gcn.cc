#include "lab/published/networks/network_gcn.h"

#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <string>

namespace cobra::lab {
namespace nn = torch::nn;

NetworkGcn::NetworkGcn(const NetworkSet& set, const NetworkGcnOptions& o) : dropout_(o.dropout), out_(o.width, 1) {
  const auto kinds = static_cast<int64_t>(set.kinds.size()) + 1;
  kinds_ = at::zeros({static_cast<int64_t>(set.calls.size()), kinds});
  for (size_t c = 0; c < set.calls.size(); ++c)
    kinds_.data_ptr<float>()[static_cast<int64_t>(c) * kinds + set.calls[c].kind] = 1;
  for (int64_t i = 0; i < o.layers; ++i) {
    weights_.push_back(register_module("weight" + std::to_string(i), nn::Linear(i == 0 ? kinds : o.width, o.width)));
    norms_.push_back(register_module("norm" + std::to_string(i), nn::LayerNorm(nn::LayerNormOptions({o.width}))));
  }
  register_module("dropout", dropout_);
  register_module("out", out_);
}

at::Tensor NetworkGcn::forward(const NetworkBatch& b) {
  const auto networks = static_cast<int64_t>(b.sizes.size());
  at::Tensor h = kinds_.index_select(0, b.call), global = at::zeros({networks, kinds_.size(1)});
  global.select(1, kinds_.size(1) - 1).fill_(1);
  for (size_t i = 0; i < weights_.size(); ++i) {
    const at::Tensor x = weights_[i](h), w = weights_[i](global);
    // (A + I) x: along the data flow, and from every node into the network's global node.
    const at::Tensor nodes = x.index_add(0, b.destinations, x.index_select(0, b.sources));
    const at::Tensor own = w.index_add(0, b.graph_of_node, x);
    h = dropout_(at::relu(norms_[i](nodes)));
    global = dropout_(at::relu(norms_[i](own)));
  }
  return out_(global).squeeze(-1);
}

NetworkGcnFit FitNetworkGcn(const NetworkSet& set, absl::Span<const size_t> train, const NetworkGcnOptions& o) {
  torch::manual_seed(o.seed);
  NetworkGcn net(set, o);
  double mean = 0, least = set.networks[train.front()].latency_us;
  for (size_t n : train) {
    mean += set.networks[n].latency_us / static_cast<double>(train.size());
    least = std::min(least, set.networks[n].latency_us);
  }
  const auto loss = [&](absl::Span<const size_t> chosen) {
    at::Tensor y = at::empty({static_cast<int64_t>(chosen.size())});
    for (size_t i = 0; i < chosen.size(); ++i)
      y.data_ptr<float>()[i] = static_cast<float>(set.networks[chosen[i]].latency_us / mean);
    return (net.forward(CollateNetworks(set, chosen)) - y).abs().mean();
  };
  TrainBaseline(net.parameters(), std::vector<size_t>(train.begin(), train.end()), o.training, loss);
  net.eval();
  NetworkGcnFit fit;
  for (const at::Tensor& p : net.parameters()) fit.parameters += p.numel();
  fit.latency_us = PredictNetworks(set, [&](const NetworkBatch& batch) { return net.forward(batch); });
  for (double& us : fit.latency_us) us = std::max(us * mean, 0.1 * least);
  return fit;
}

}  // namespace cobra::lab
