#include "model/training/optimizer.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cobra::training {

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

FlatParameters::FlatParameters(std::vector<at::Tensor> parameters) : parameters_(std::move(parameters)) {
  at::NoGradGuard no_grad;
  std::vector<at::Tensor> flat;
  for (const at::Tensor& p : parameters_) flat.push_back(p.detach().reshape(-1));
  all_ = at::cat(flat);
  int64_t begin = 0;
  for (at::Tensor p : parameters_) {
    p.set_data(all_.slice(0, begin, begin + p.numel()).view(p.sizes()));
    begin += p.numel();
  }
  all_.set_requires_grad(true);
  all_.mutable_grad() = at::zeros(all_.sizes(), all_.options());
}

void FlatParameters::ZeroGradients() {
  at::NoGradGuard no_grad;
  all_.mutable_grad().zero_();
  int64_t begin = 0;
  for (const at::Tensor& p : parameters_) {
    const at::Tensor gradient = all_.grad().slice(0, begin, begin + p.numel()).view(p.sizes());
    if (!p.grad().defined() || p.grad().data_ptr() != gradient.data_ptr()) p.mutable_grad() = gradient;
    begin += p.numel();
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

}  // namespace cobra::training
