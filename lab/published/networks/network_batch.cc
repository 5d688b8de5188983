#include "lab/published/networks/network_batch.h"

#include <algorithm>

#include "model/training/optimizer.h"

namespace cobra::lab {
NetworkBatch CollateNetworks(const NetworkSet& set, absl::Span<const size_t> networks) {
  NetworkBatch batch;
  std::vector<int64_t> call, sources, destinations, graph_of_node;
  int64_t base = 0;
  for (size_t g = 0; g < networks.size(); ++g) {
    const NetworkSet::Network& network = set.networks[networks[g]];
    for (const auto& [source, destination] : network.edges) {
      sources.push_back(base + source);
      destinations.push_back(base + destination);
    }
    call.insert(call.end(), network.calls.begin(), network.calls.end());
    graph_of_node.insert(graph_of_node.end(), network.calls.size(), static_cast<int64_t>(g));
    batch.sizes.push_back(static_cast<int64_t>(network.calls.size()));
    base += batch.sizes.back();
  }
  batch.call = at::tensor(call, at::kLong);
  batch.sources = at::tensor(sources, at::kLong);
  batch.destinations = at::tensor(destinations, at::kLong);
  batch.graph_of_node = at::tensor(graph_of_node, at::kLong);
  return batch;
}

void TrainBaseline(const std::vector<at::Tensor>& parameters, const std::vector<size_t>& rows,
                   const BaselineTraining& training, const std::function<at::Tensor(absl::Span<const size_t>)>& loss) {
  torch::optim::AdamW optimizer = training::MakeOptimizer(parameters, training.learning_rate, training.weight_decay);
  const auto count = static_cast<int64_t>(rows.size());
  const int64_t steps = (count + training.batch - 1) / training.batch * training.epochs;
  int64_t step = 0;
  for (int epoch = 0; epoch < training.epochs; ++epoch) {
    const at::Tensor order = at::randperm(count, at::kLong);
    for (int64_t begin = 0; begin < count; begin += training.batch, ++step) {
      std::vector<size_t> chosen;
      for (int64_t i = begin; i < std::min<int64_t>(count, begin + training.batch); ++i) {
        chosen.push_back(rows[static_cast<size_t>(order.data_ptr<int64_t>()[i])]);
      }
      training::SetLearningRate(&optimizer, training.learning_rate,
                                static_cast<double>(step) / static_cast<double>(steps),
                                /*warmup=*/0.02);
      optimizer.zero_grad();
      loss(chosen).backward();
      optimizer.step();
    }
  }
}

std::vector<double> PredictNetworks(const NetworkSet& set,
                                    const std::function<at::Tensor(const NetworkBatch&)>& forward) {
  at::NoGradGuard no_grad;
  std::vector<double> predicted;
  constexpr size_t kAtATime = 64;
  for (size_t begin = 0; begin < set.networks.size(); begin += kAtATime) {
    std::vector<size_t> chosen;
    for (size_t n = begin; n < std::min(set.networks.size(), begin + kAtATime); ++n) chosen.push_back(n);
    const at::Tensor out = forward(CollateNetworks(set, chosen)).to(at::kDouble).contiguous();
    predicted.insert(predicted.end(), out.data_ptr<double>(), out.data_ptr<double>() + out.numel());
  }
  return predicted;
}

}  // namespace cobra::lab
