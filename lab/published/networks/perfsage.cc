#include "lab/published/networks/perfsage.h"

#include <torch/nn/init.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>

namespace cobra::lab {

PerfSage::PerfSage(const NetworkSet& set, const PerfSageOptions& o) : options_(o) {
  const auto calls = static_cast<int64_t>(set.calls.size()), numbers = static_cast<int64_t>(kCallNumbers);
  features_ = at::empty({calls, numbers});
  const auto kinds = static_cast<int64_t>(set.kinds.size());
  std::vector<std::vector<int64_t>> of_kind(static_cast<size_t>(kinds));
  for (int64_t c = 0; c < calls; ++c) {
    const Call& call = set.calls[static_cast<size_t>(c)];
    for (int64_t i = 0; i < numbers; ++i)
      features_.data_ptr<float>()[c * numbers + i] = call.numbers[static_cast<size_t>(i)] / 8;
    of_kind[static_cast<size_t>(call.kind)].push_back(c);
  }
  for (const std::vector<int64_t>& list : of_kind) {
    at::Tensor index = at::empty({static_cast<int64_t>(list.size())}, at::kLong);
    std::copy(list.begin(), list.end(), index.data_ptr<int64_t>());
    calls_of_kind_.push_back(index);
  }
  const int64_t inputs = numbers + o.embedding;
  const double bound = std::sqrt(6.0 / static_cast<double>(inputs + o.width));
  embedding_ = register_parameter("embedding", at::randn({kinds, o.embedding}));
  weight_ = register_parameter("weight", (at::rand({kinds, inputs, o.width}) * 2 - 1) * bound);
  bias_ = register_parameter("bias", at::zeros({kinds, o.width}));
  const auto linear = [&](const std::string& name, int64_t in, int64_t out) {
    torch::nn::Linear layer = register_module(name, torch::nn::Linear(in, out));
    torch::nn::init::xavier_uniform_(layer->weight);
    torch::nn::init::zeros_(layer->bias);
    return layer;
  };
  for (int64_t i = 0; i < o.layers; ++i) sage_.push_back(linear("sage" + std::to_string(i), 2 * o.width, o.width));
  for (int64_t i = 0; i < o.head_layers; ++i) {
    head_.push_back(
        linear("head" + std::to_string(i), i == 0 ? o.width : o.head_width, i + 1 == o.head_layers ? 1 : o.head_width));
  }
}

at::Tensor PerfSage::HiddenOfCalls() {
  at::Tensor hidden = at::zeros({features_.size(0), options_.width});
  for (size_t k = 0; k < calls_of_kind_.size(); ++k) {
    const at::Tensor& index = calls_of_kind_[k];
    const auto kind = static_cast<int64_t>(k);
    const at::Tensor type = embedding_.select(0, kind).unsqueeze(0).expand({index.size(0), -1});
    const at::Tensor input = at::cat({features_.index_select(0, index), type}, 1);
    hidden = hidden.index_add(0, index, at::relu(at::matmul(input, weight_.select(0, kind)) + bias_.select(0, kind)));
  }
  return hidden;
}

at::Tensor PerfSage::forward(const NetworkBatch& b) {
  at::Tensor h = HiddenOfCalls().index_select(0, b.call);
  for (torch::nn::Linear& layer : sage_) {
    const at::Tensor neighbours = at::zeros_like(h)
                                      .index_add(0, b.destinations, h.index_select(0, b.sources))
                                      .index_add(0, b.sources, h.index_select(0, b.destinations));
    h = at::relu(layer(at::cat({h, neighbours}, 1)));
  }
  std::vector<at::Tensor> pooled;
  int64_t begin = 0;
  for (int64_t nodes : b.sizes) {
    pooled.push_back(std::get<0>(h.narrow(0, begin, nodes).max(0)));
    begin += nodes;
  }
  at::Tensor y = at::stack(pooled);
  for (size_t i = 0; i < head_.size(); ++i) {
    y = head_[i](y);
    if (i + 1 < head_.size()) y = at::relu(y);
  }
  return y.squeeze(-1);
}

std::vector<size_t> Upsample(const NetworkSet& set, absl::Span<const size_t> train, double least_share) {
  std::map<std::string, std::vector<size_t>> of_space;
  for (size_t n : train) of_space[set.networks[n].space].push_back(n);
  const double least = least_share * static_cast<double>(train.size());
  std::vector<size_t> rows;
  for (const auto& [space, members] : of_space) {
    const auto times =
        std::max<int64_t>(1, static_cast<int64_t>(std::ceil(least / static_cast<double>(members.size()) - 1e-9)));
    for (int64_t i = 0; i < times; ++i) rows.insert(rows.end(), members.begin(), members.end());
  }
  return rows;
}

PerfSageFit FitPerfSage(const NetworkSet& set, const std::vector<double>& target, absl::Span<const size_t> train,
                        const PerfSageOptions& o) {
  torch::manual_seed(o.seed);
  PerfSage net(set, o);
  double mean = 0, least = target[train.front()];
  for (size_t n : train) {
    mean += target[n] / static_cast<double>(train.size());
    least = std::min(least, target[n]);
  }
  const auto loss = [&](absl::Span<const size_t> chosen) {
    at::Tensor y = at::empty({static_cast<int64_t>(chosen.size())});
    for (size_t i = 0; i < chosen.size(); ++i) y.data_ptr<float>()[i] = static_cast<float>(target[chosen[i]] / mean);
    const at::Tensor error = (net.forward(CollateNetworks(set, chosen)) - y).abs();
    return (error / y + o.alpha / 10 * error).mean();
  };
  TrainBaseline(net.parameters(), Upsample(set, train, o.least_share), o.training, loss);
  PerfSageFit fit;
  for (const at::Tensor& p : net.parameters()) fit.parameters += p.numel();
  fit.predicted = PredictNetworks(set, [&](const NetworkBatch& batch) { return net.forward(batch); });
  for (double& p : fit.predicted) p = std::max(p * mean, 0.1 * least);  // a linear output may be negative
  return fit;
}

}  // namespace cobra::lab
