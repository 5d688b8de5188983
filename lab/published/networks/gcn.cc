#include "lab/published/networks/gcn.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "model/space/models/fused_adamw.h"

namespace cobra::lab {
namespace nn = torch::nn;

GcnGraphs MakeGcnGraphs(const space::DenseGraphs& g, const GcnOptions& options) {
  const int64_t graphs = g.size(), nodes = g.kinds.size(1), kinds = g.kinds.size(2);
  GcnGraphs result{at::zeros({graphs, nodes + 1, kinds + 1}),
                   at::eye(nodes + 1).expand({graphs, nodes + 1, nodes + 1}).clone()};
  if (options.random_features) {
    result.features.normal_();
  } else {
    result.features.narrow(1, 0, nodes).narrow(2, 0, kinds).copy_(g.kinds);
    result.features.select(1, nodes).select(1, kinds).fill_(1);
  }
  if (!options.identity_adjacency) {
    result.adjacency.narrow(1, 0, nodes).narrow(2, 0, nodes).add_(g.adjacency.transpose(1, 2));
    result.adjacency.select(1, nodes).fill_(1);
  }
  return result;
}

Gcn::Gcn(const GcnOptions& o) : dropout_(o.dropout), out_(o.width, 1) {
  for (int64_t i = 0; i < o.layers; ++i) {
    nn::Linear weight(i == 0 ? o.kinds + 1 : o.width, o.width);
    {
      at::NoGradGuard no_grad;  // the original initializes by the output width, LibTorch by the input width
      const double bound = 1 / std::sqrt(static_cast<double>(o.width));
      weight->weight.uniform_(-bound, bound);
      weight->bias.uniform_(-bound, bound);
    }
    weights_.push_back(register_module("weight" + std::to_string(i), weight));
    norms_.push_back(register_module("norm" + std::to_string(i), nn::LayerNorm(nn::LayerNormOptions({o.width}))));
  }
  register_module("dropout", dropout_);
  register_module("out", out_);
}

at::Tensor Gcn::Latency(const GcnGraphs& g) {
  const int64_t global = g.features.size(1) - 1;
  at::Tensor h = g.features;
  for (size_t i = 0; i < weights_.size(); ++i) {
    // Only the global node of the last block is read. A (h W) + b equals (A h) W + b.
    const bool last = i + 1 == weights_.size();
    const at::Tensor read = at::matmul(last ? g.adjacency.narrow(1, global, 1) : g.adjacency, h);
    h = dropout_(at::relu(norms_[i](weights_[i](read))));
  }
  return out_(h.select(1, 0)).squeeze(-1);
}

std::vector<double> GcnLatencyMs(const GcnGraphs& graphs, Gcn& net, double mean_ms) {
  at::NoGradGuard no_grad;
  net.eval();
  std::vector<at::Tensor> parts;
  for (int64_t begin = 0; begin < graphs.size(); begin += 512) {
    parts.push_back(
        net.Latency(graphs.Select(at::arange(begin, std::min<int64_t>(begin + 512, graphs.size()), at::kLong))));
  }
  const at::Tensor ms = at::cat(parts).to(at::kDouble).clamp_min(1e-3).mul(mean_ms).contiguous();
  return {ms.data_ptr<double>(), ms.data_ptr<double>() + ms.numel()};
}

namespace {

// Halves the learning rate as ReduceLROnPlateau does, and decides when to stop.
class Patience {
 public:
  Patience(const GcnFitOptions& o) : o_(o), rate_(o.learning_rate) {}
  double rate() const { return rate_; }
  // Returns false if training should stop.
  bool Continue(double loss) {
    if (loss < 0.99 * plateau_) {
      plateau_ = loss;
      since_plateau_ = 0;
    } else if (++since_plateau_ > o_.halve_after) {
      rate_ /= 2;
      since_plateau_ = 0;
    }
    since_best_ = loss < best_ ? 0 : since_best_ + 1;
    best_ = std::min(best_, loss);
    return since_best_ < o_.stop_after;
  }

 private:
  const GcnFitOptions& o_;
  double rate_, plateau_ = std::numeric_limits<double>::infinity(), best_ = plateau_;
  int since_plateau_ = 0, since_best_ = 0;
};

// Keeps the weights of the best epoch.
class BestWeights {
 public:
  explicit BestWeights(const std::vector<at::Tensor>& parameters) : parameters_(parameters) {}
  void See(double loss) {
    if (loss >= best_) return;
    best_ = loss;
    kept_.clear();
    for (const at::Tensor& p : parameters_) kept_.push_back(p.detach().clone());
  }
  void Restore() {
    at::NoGradGuard no_grad;
    for (size_t i = 0; i < kept_.size(); ++i) parameters_[i].copy_(kept_[i]);
  }

 private:
  std::vector<at::Tensor> parameters_, kept_;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace

GcnFit FitGcn(const space::DenseGraphs& graphs, const space::SpaceRowSet& rows, const space::SpaceRowSet& validation,
              const GcnFitOptions& o) {
  at::manual_seed(o.seed);
  Gcn net(o.net);
  const GcnGraphs all = MakeGcnGraphs(graphs, o.net), train = all.Select(space::IndexTensor(rows)),
                  held_out = all.Select(space::IndexTensor(validation));
  const double mean_ms = space::MeanOf(rows.latency_ms);
  const at::Tensor target = space::Scaled(rows, mean_ms), held_out_target = space::Scaled(validation, mean_ms);
  space::FusedAdamW optimizer(net.parameters(), {o.learning_rate, o.weight_decay});
  Patience patience(o);
  BestWeights best(net.parameters());
  GcnFit fit;
  fit.parameters = space::ParametersOf(net);
  for (bool go_on = true; go_on && fit.epochs < o.epochs; ++fit.epochs) {
    net.train();
    const at::Tensor order = at::randperm(train.size(), at::kLong);
    for (int64_t begin = 0; begin < train.size(); begin += o.batch) {
      const at::Tensor chosen = order.narrow(0, begin, std::min<int64_t>(o.batch, train.size() - begin));
      (net.Latency(train.Select(chosen)) - target.index_select(0, chosen)).abs().mean().backward();
      optimizer.Step(patience.rate());
    }
    at::NoGradGuard no_grad;
    net.eval();
    const double loss = (net.Latency(held_out) - held_out_target).abs().mean().item<double>();
    best.See(loss);
    if (fit.epochs >= o.patient_from) go_on = patience.Continue(loss);
  }
  best.Restore();
  fit.latency_ms = GcnLatencyMs(all, net, mean_ms);
  return fit;
}

}  // namespace cobra::lab
