#include "lab/published/cobra/call_gcn.h"

#include <torch/types.h>
#include <torch/utils.h>

// This header needs the names of torch/types.h.
#include <torch/optim/adam.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>

#include "absl/strings/str_format.h"
#include "base/log.h"
#include "base/statistics.h"

namespace cobra::lab {
namespace nn = torch::nn;

CallBatch MakeCallBatch(const CallGraphs& graphs, absl::Span<const size_t> chosen) {
  std::vector<int64_t> rows, sources, destinations, network_of_call;
  std::vector<float> calls;
  int64_t base = 0;
  for (size_t n = 0; n < chosen.size(); ++n) {
    const CallGraphs::Network& network = graphs.networks[chosen[n]];
    rows.insert(rows.end(), network.row_of_call.begin(), network.row_of_call.end());
    for (const auto& [source, destination] : network.edges) {
      sources.push_back(base + source);
      destinations.push_back(base + destination);
    }
    const auto count = static_cast<int64_t>(network.row_of_call.size());
    network_of_call.insert(network_of_call.end(), static_cast<size_t>(count), static_cast<int64_t>(n));
    calls.push_back(static_cast<float>(std::max<int64_t>(count, 1)));
    base += count;
  }
  return {graphs.rows.index_select(0, at::tensor(rows, at::kLong)), at::tensor(sources, at::kLong),
          at::tensor(destinations, at::kLong), at::tensor(network_of_call, at::kLong), at::tensor(calls, at::kFloat)};
}

CallGcn::CallGcn(const CallGcnConfig& c, int64_t inputs) : config_(c), dropout_(c.dropout), out_(c.width, 1) {
  for (int64_t i = 0; i < c.layers; ++i) {
    weights_.push_back(register_module("weight" + std::to_string(i), nn::Linear(i == 0 ? inputs : c.width, c.width)));
    if (c.layer_norm)
      norms_.push_back(register_module("norm" + std::to_string(i), nn::LayerNorm(nn::LayerNormOptions({c.width}))));
  }
  register_module("dropout", dropout_);
  register_module("out", out_);
  if (c.global_node) global_ = register_parameter("global", at::zeros({1, inputs}));
}

at::Tensor CallGcn::Latency(const CallBatch& b) {
  const int64_t networks = b.calls_per_network.size(0);
  at::Tensor h = b.features, global = config_.global_node ? global_.expand({networks, -1}) : at::Tensor();
  const auto finish = [&](size_t i, at::Tensor x) {
    if (config_.layer_norm) x = norms_[i](x);
    return dropout_(at::relu(x));
  };
  for (size_t i = 0; i < weights_.size(); ++i) {
    const at::Tensor y = weights_[i](h);
    if (config_.global_node) global = finish(i, weights_[i](global).index_add(0, b.network_of_call, y));
    h = finish(i, y.index_add(0, b.destinations, y.index_select(0, b.sources)));
  }
  if (!config_.global_node)
    global = at::zeros({networks, h.size(1)}).index_add(0, b.network_of_call, h) / b.calls_per_network.unsqueeze(1);
  return out_(global).squeeze(-1);
}

namespace {

// Predicts latency over `scale_us` of the chosen networks, a few at a time.
std::vector<double> PredictLatencies(CallGcn& net, const CallGraphs& graphs, const std::vector<size_t>& which,
                                     double scale_us) {
  at::NoGradGuard no_grad;
  net.eval();
  std::vector<double> us;
  for (size_t begin = 0; begin < which.size(); begin += 16) {
    const at::Tensor out =
        net.Latency(MakeCallBatch(graphs, absl::MakeConstSpan(which).subspan(begin, 16))).contiguous();
    for (int64_t i = 0; i < out.numel(); ++i)
      us.push_back(std::max(static_cast<double>(out.data_ptr<float>()[i]), 1e-3) * scale_us);
  }
  return us;
}

double Mape(const std::vector<double>& predicted, const std::vector<double>& measured) {
  double sum = 0;
  for (size_t i = 0; i < predicted.size(); ++i) sum += std::abs(predicted[i] / measured[i] - 1);
  return sum / static_cast<double>(std::max<size_t>(1, predicted.size()));
}

class GcnRun {
 public:
  GcnRun(const CallGraphs& graphs, const NetworkRows& train, const CallGcnConfig& config, uint64_t seed)
      : graphs_(graphs),
        train_(train),
        config_(config),
        random_(seed),
        scale_us_(train.latency_us.empty() ? 1 : UpperMedian(train.latency_us)),
        net_(config, graphs.rows.size(1)),
        optimizer_(net_.parameters(),
                   torch::optim::AdamOptions(config.learning_rate).weight_decay(config.weight_decay)) {}

  CallGcnFit Run(const NetworkRows& validation) {
    CallGcnFit fit;
    for (const at::Tensor& p : net_.parameters()) fit.parameters += p.numel();
    double rate = config_.learning_rate, best = std::numeric_limits<double>::infinity();
    std::vector<at::Tensor> kept;
    for (int since_best = 0, since_halved = 0; fit.epochs < config_.epochs && since_best < config_.stall;
         ++fit.epochs) {
      Epoch();
      const double mape = Mape(PredictLatencies(net_, graphs_, validation.index, scale_us_), validation.latency_us);
      if (fit.epochs % 10 == 9)
        LogInfo(absl::StrFormat("graph network of %d, epoch %d: validation %.2f %%", config_.width, fit.epochs + 1,
                                100 * mape));
      ++since_best, ++since_halved;
      if (mape < best) {
        best = mape;
        since_best = since_halved = 0;
        kept.clear();
        for (const at::Tensor& p : net_.parameters()) kept.push_back(p.detach().clone());
      } else if (config_.halve > 0 && since_halved >= config_.halve) {
        rate /= 2;
        since_halved = 0;
        for (auto& group : optimizer_.param_groups()) static_cast<torch::optim::AdamOptions&>(group.options()).lr(rate);
      }
    }
    at::NoGradGuard no_grad;
    const auto parameters = net_.parameters();
    for (size_t i = 0; i < kept.size(); ++i) at::Tensor(parameters[i]).copy_(kept[i]);
    std::vector<size_t> all(graphs_.networks.size());
    std::iota(all.begin(), all.end(), size_t{0});
    fit.latency_us = PredictLatencies(net_, graphs_, all, scale_us_);
    return fit;
  }

 private:
  void Epoch() {
    net_.train();
    std::vector<size_t> order(train_.index.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), random_);
    for (size_t begin = 0; begin < order.size(); begin += static_cast<size_t>(config_.batch)) {
      std::vector<size_t> chosen;
      std::vector<float> target;
      for (size_t i = begin; i < std::min(order.size(), begin + static_cast<size_t>(config_.batch)); ++i) {
        chosen.push_back(train_.index[order[i]]);
        target.push_back(static_cast<float>(train_.latency_us[order[i]] / scale_us_));
      }
      optimizer_.zero_grad();
      const at::Tensor measured = at::tensor(target, at::kFloat);
      ((net_.Latency(MakeCallBatch(graphs_, chosen)) - measured).abs() / measured).mean().backward();
      optimizer_.step();
    }
  }

  const CallGraphs& graphs_;
  const NetworkRows& train_;
  const CallGcnConfig& config_;
  std::mt19937_64 random_;
  const double scale_us_;
  CallGcn net_;
  torch::optim::Adam optimizer_;
};

}  // namespace

CallGcnFit FitCallGcn(const CallGraphs& graphs, const NetworkRows& train, const NetworkRows& validation,
                      const CallGcnConfig& config, uint64_t seed) {
  torch::manual_seed(seed);
  return GcnRun(graphs, train, config, seed).Run(validation);
}

}  // namespace cobra::lab
