#include "model/fit/optimizer.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cobra::fit {

torch::optim::AdamW MakeOptimizer(const std::vector<at::Tensor>& parameters, double learning_rate,
                                  double weight_decay) {
  return torch::optim::AdamW(parameters,
                             torch::optim::AdamWOptions(learning_rate).weight_decay(weight_decay).betas({0.9, 0.98}));
}

double LearningRateFactor(double progress, double warmup) {
  return progress < warmup ? progress / warmup + 0.01 : 0.01 + 0.99 * 0.5 * (1 + std::cos(M_PI * progress));
}

void SetLearningRate(torch::optim::AdamW* optimizer, double learning_rate, double progress, double warmup) {
  const double factor = LearningRateFactor(progress, warmup);
  for (auto& group : optimizer->param_groups()) {
    static_cast<torch::optim::AdamWOptions&>(group.options()).lr(learning_rate * factor);
  }
}

WeightAverage::WeightAverage(std::vector<at::Tensor> parameters, double decay)
    : parameters_(std::move(parameters)), decay_(decay) {
  for (const at::Tensor& p : parameters_) average_.push_back(p.detach().clone());
}

void WeightAverage::Update(int step) {
  at::NoGradGuard no_grad;
  const double decay = std::min(decay_, (1.0 + step) / (10.0 + step));
  for (size_t i = 0; i < parameters_.size(); ++i) average_[i].lerp_(parameters_[i].detach(), 1 - decay);
}

void WeightAverage::Swap() {
  at::NoGradGuard no_grad;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    at::Tensor live = parameters_[i].detach().clone();
    parameters_[i].copy_(average_[i]);
    average_[i] = live;
  }
}

}  // namespace cobra::fit
