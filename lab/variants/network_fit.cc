#include "lab/variants/network_fit.h"

#include <torch/types.h>

// This header needs the names of torch/types.h.
#include <torch/nn/utils/clip_grad.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "lab/variants/call_model.h"
#include "model/net/graph_net.h"
#include "model/training/batch.h"
#include "model/training/optimizer.h"

namespace cobra::lab {
namespace {

struct Side {  // a batch of networks
  net::GraphBatch graphs;
  at::Tensor call;         // int64 [nodes]
  at::Tensor alone;        // [nodes] log-microseconds, of CallModel
  at::Tensor log_latency;  // [networks]
  at::Tensor node_log, node_weight;
};

class Fit {
 public:
  Fit(const NetworkSet& set, const CallModel& calls, const NetworkFitOptions& options) : set_(set), options_(options) {
    for (size_t n = 0; n < set.networks.size(); ++n) alone_.push_back(calls.LogUs(n));
    const auto rows = static_cast<int64_t>(set.calls.size()), numbers = static_cast<int64_t>(kCallNumbers);
    at::Tensor values = at::empty({rows, numbers}), kinds = at::zeros({rows, static_cast<int64_t>(set.kinds.size())});
    for (int64_t c = 0; c < rows; ++c) {
      const Call& call = set.calls[static_cast<size_t>(c)];
      std::copy(call.numbers.begin(), call.numbers.end(), values.data_ptr<float>() + c * numbers);
      kinds.data_ptr<float>()[c * kinds.size(1) + call.kind] = 1;
    }
    values = values - values.mean(0);
    vectors_ = at::cat({values / ((values * values).mean(0).sqrt() + 1e-3), kinds}, 1);
    torch::manual_seed(options.seed);
    net::NetConfig config;
    config.width = vectors_.size(1);
    config.graph_width = options.width;
    config.graph_layers = options.layers;
    config.graph_features = set.networks.empty() ? 1 : static_cast<int64_t>(set.networks[0].totals.size());
    config.target_features = 1;  // there is one target: nothing to learn
    net_ = std::make_shared<net::GlobalGraphNet>(config);
  }

  void Train(absl::Span<const size_t> train) {
    torch::optim::AdamW optimizer =
        training::MakeOptimizer(net_->parameters(), options_.learning_rate, options_.weight_decay);
    training::WeightAverage average(net_->parameters(), options_.average_decay);
    const auto rows = static_cast<int64_t>(train.size());
    const int64_t steps = (rows + options_.batch - 1) / options_.batch * options_.epochs;
    int step = 0;
    for (int epoch = 0; epoch < options_.epochs; ++epoch) {
      const at::Tensor order = at::randperm(rows, at::kLong);
      for (int64_t begin = 0; begin < rows; begin += options_.batch, ++step) {
        std::vector<size_t> chosen;
        for (int64_t i = begin; i < std::min(rows, begin + options_.batch); ++i)
          chosen.push_back(train[static_cast<size_t>(order.data_ptr<int64_t>()[i])]);
        training::SetLearningRate(&optimizer, options_.learning_rate,
                                  static_cast<double>(step) / static_cast<double>(steps), options_.warmup);
        optimizer.zero_grad();
        Loss(Collate(chosen)).backward();
        torch::nn::utils::clip_grad_norm_(net_->parameters(), 1.0);
        optimizer.step();
        average.Update(step);
      }
    }
    average.Swap();
  }

  std::vector<double> PredictAll() {
    at::NoGradGuard no_grad;
    std::vector<double> latency_us;
    constexpr size_t kAtATime = 64;
    for (size_t begin = 0; begin < set_.networks.size(); begin += kAtATime) {
      std::vector<size_t> chosen;
      for (size_t n = begin; n < std::min(set_.networks.size(), begin + kAtATime); ++n) chosen.push_back(n);
      const Side side = Collate(chosen);
      const at::Tensor total = net::SumContributions(Contributions(side), side.graphs).contiguous();
      for (int64_t i = 0; i < total.numel(); ++i) latency_us.push_back(total.data_ptr<float>()[i]);
    }
    return latency_us;
  }

  int64_t Parameters() const {
    int64_t count = 0;
    for (const at::Tensor& p : net_->parameters()) count += p.numel();
    return count;
  }

 private:
  at::Tensor Contributions(const Side& side) {
    return net_->forward(vectors_.index_select(0, side.call), side.alone, side.graphs);
  }

  at::Tensor Loss(const Side& side) {
    const at::Tensor contribution = Contributions(side);
    const at::Tensor total = net::SumContributions(contribution, side.graphs).log();
    const at::Tensor nodes = (training::LogLatencyLoss(contribution, side.node_log) * side.node_weight).sum() /
                             static_cast<double>(total.size(0));
    return training::LogLatencyLoss(total, side.log_latency).mean() + options_.node_weight * nodes;
  }

  Side Collate(const std::vector<size_t>& chosen) const {
    std::vector<int64_t> sources, destinations, graph_of_node, calls;
    std::vector<float> alone, latency, node_log, node_weight, totals;
    int64_t base = 0;
    for (size_t g = 0; g < chosen.size(); ++g) {
      const NetworkSet::Network& network = set_.networks[chosen[g]];
      for (const auto& [source, destination] : network.edges) {
        sources.push_back(base + source);
        destinations.push_back(base + destination);
      }
      const size_t nodes = network.calls.size();
      for (size_t i = 0; i < nodes; ++i) {
        graph_of_node.push_back(static_cast<int64_t>(g));
        calls.push_back(network.calls[i]);
        alone.push_back(static_cast<float>(alone_[chosen[g]][i]));
        const bool known = !std::isnan(network.log_us[i]);
        node_log.push_back(known ? static_cast<float>(network.log_us[i]) : 0.f);
        node_weight.push_back(known ? static_cast<float>(0.5 * std::exp(network.log_us[i]) / network.latency_us +
                                                         0.5 / static_cast<double>(nodes))
                                    : 0.f);
      }
      base += static_cast<int64_t>(nodes);
      latency.push_back(static_cast<float>(std::log(network.latency_us)));
      totals.insert(totals.end(), network.totals.begin(), network.totals.end());
    }
    const auto count = static_cast<int64_t>(chosen.size());
    return {{at::tensor(sources, at::kLong), at::tensor(destinations, at::kLong), at::tensor(graph_of_node, at::kLong),
             at::tensor(totals, at::kFloat).view({count, -1}), at::zeros({count, 1})},
            at::tensor(calls, at::kLong),
            at::tensor(alone, at::kFloat),
            at::tensor(latency, at::kFloat),
            at::tensor(node_log, at::kFloat),
            at::tensor(node_weight, at::kFloat)};
  }

  const NetworkSet& set_;
  const NetworkFitOptions options_;
  std::vector<std::vector<double>> alone_;  // [network][node]
  at::Tensor vectors_;                      // [calls, numbers + kinds]
  std::shared_ptr<net::GraphNet> net_;
};

}  // namespace

absl::StatusOr<NetworkFit> FitNetworks(const NetworkSet& set, absl::Span<const size_t> train,
                                       const NetworkFitOptions& options) {
  COBRA_ASSIGN_OR_RETURN(const CallModel calls, CallModel::Fit(set, train));
  try {
    Fit fit(set, calls, options);
    fit.Train(train);
    return NetworkFit{fit.PredictAll(), fit.Parameters()};
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat("fit: ", e.what()));
  }
}

}  // namespace cobra::lab
