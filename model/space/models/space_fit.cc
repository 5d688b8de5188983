#include "model/space/models/space_fit.h"

#include <torch/types.h>

// This header needs the names of torch/types.h.
#include <torch/nn/utils/clip_grad.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "model/space/models/fused_adamw.h"
#include "model/training/optimizer.h"

namespace cobra::space {

at::Tensor IndexTensor(const SpaceRowSet& rows) { return at::tensor(rows.index, at::kLong); }

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (double v : values) sum += v;
  return values.empty() ? 1 : sum / static_cast<double>(values.size());
}

// [rows]: latency over `mean_ms`.
at::Tensor Scaled(const SpaceRowSet& rows, double mean_ms) {
  return at::tensor(rows.latency_ms, at::kDouble).div(mean_ms).to(at::kFloat);
}

// Predicts every graph, a few hundred at a time.
at::Tensor PredictAll(const DenseGraphs& graphs, SpaceNet& net) {
  at::NoGradGuard no_grad;
  net.eval();
  std::vector<at::Tensor> parts;
  for (int64_t begin = 0; begin < graphs.size(); begin += 512) {
    parts.push_back(net.LogLatency(graphs.Select(at::arange(begin, std::min(begin + 512, graphs.size()), at::kLong))));
  }
  return at::cat(parts);
}

std::vector<double> ToMilliseconds(const at::Tensor& log_latency, double mean_ms) {
  const at::Tensor ms = log_latency.to(at::kDouble).exp().mul(mean_ms).contiguous();
  return {ms.data_ptr<double>(), ms.data_ptr<double>() + ms.numel()};
}

int64_t ParametersOf(const torch::nn::Module& module) {
  int64_t count = 0;
  for (const at::Tensor& p : module.parameters()) count += p.numel();
  return count;
}

namespace {

std::shared_ptr<AdditiveNet> FitOne(const DenseGraphs& train, const at::Tensor& log_target, const AdditiveFitOptions& o,
                                    uint64_t seed) {
  at::manual_seed(seed);
  const std::shared_ptr<AdditiveNet> net = o.make_net(o.net);
  FusedAdamW optimizer(net->parameters(), {o.learning_rate, o.weight_decay, 0.9, 0.98});
  training::WeightAverage average(net->parameters(), o.average_decay);
  const int64_t rows = train.size(), steps = (rows + o.batch - 1) / o.batch;
  int step = 0;
  for (int epoch = 0; epoch < o.epochs; ++epoch) {
    const at::Tensor order = at::randperm(rows, at::kLong);
    for (int64_t begin = 0; begin < rows; begin += o.batch, ++step) {
      const at::Tensor chosen = order.narrow(0, begin, std::min<int64_t>(o.batch, rows - begin));
      (net->LogLatency(train.Select(chosen)) - log_target.index_select(0, chosen)).abs().mean().backward();
      torch::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
      const double progress = static_cast<double>(step) / static_cast<double>(steps * o.epochs);
      optimizer.Step(o.learning_rate * training::LearningRateFactor(progress, o.warmup));
      average.Update(step);
    }
  }
  average.Swap();
  return net;
}

}  // namespace

AdditiveEnsemble::AdditiveEnsemble(const DenseGraphs& graphs, const SpaceRowSet& rows,
                                   const AdditiveFitOptions& options)
    : mean_ms_(MeanOf(rows.latency_ms)) {
  const DenseGraphs train = graphs.Select(IndexTensor(rows));
  const at::Tensor log_target = Scaled(rows, mean_ms_).log();
  for (int n = 0; n < options.networks; ++n)
    networks_.push_back(FitOne(train, log_target, options, options.seed * 1000 + static_cast<uint64_t>(n)));
}

std::vector<double> AdditiveEnsemble::LatencyMs(const DenseGraphs& graphs) const {
  at::Tensor sum = at::zeros({graphs.size()});
  for (const auto& net : networks_) sum = sum + PredictAll(graphs, *net);
  return ToMilliseconds(sum / static_cast<double>(networks_.size()), mean_ms_);
}

int64_t AdditiveEnsemble::parameters() const {
  int64_t count = 0;
  for (const auto& net : networks_) count += ParametersOf(*net);
  return count;
}

std::vector<double> FitAdditive(const DenseGraphs& graphs, const SpaceRowSet& train,
                                const AdditiveFitOptions& options) {
  return AdditiveEnsemble(graphs, train, options).LatencyMs(graphs);
}

}  // namespace cobra::space
