#include "model/space/models/fused_adamw.h"

#include <cmath>
#include <utility>

namespace cobra::space {
namespace {

struct Factors {
  float keep, beta1, beta2, step, root_correction, epsilon;  // of one step
};

// The loop that the compiler turns into vector instructions: nothing in it depends on the element
// before.
void Move(float* __restrict weight, const float* __restrict gradient, float* __restrict first, float* __restrict second,
          int64_t count, const Factors& f) {
  const float one_less_beta1 = 1 - f.beta1, one_less_beta2 = 1 - f.beta2;
  for (int64_t i = 0; i < count; ++i) {
    const float g = gradient[i];
    const float m = f.beta1 * first[i] + one_less_beta1 * g;
    const float v = f.beta2 * second[i] + one_less_beta2 * g * g;
    first[i] = m;
    second[i] = v;
    weight[i] = f.keep * weight[i] - f.step * m / (std::sqrt(v) * f.root_correction + f.epsilon);
  }
}

}  // namespace

FusedAdamW::FusedAdamW(std::vector<at::Tensor> parameters, const AdamWRates& rates)
    : parameters_(std::move(parameters)), rates_(rates) {
  for (const at::Tensor& p : parameters_) {
    TORCH_CHECK(p.is_contiguous() && p.scalar_type() == at::kFloat && p.is_cpu(),
                "FusedAdamW: weights are contiguous float32 on the CPU");
    first_.push_back(at::zeros_like(p));
    second_.push_back(at::zeros_like(p));
  }
}

void FusedAdamW::Step(double learning_rate) {
  at::NoGradGuard no_grad;
  ++steps_;
  const double t = static_cast<double>(steps_);
  Factors f;
  f.keep = static_cast<float>(1 - learning_rate * rates_.weight_decay);
  f.beta1 = static_cast<float>(rates_.beta1);
  f.beta2 = static_cast<float>(rates_.beta2);
  f.step = static_cast<float>(learning_rate / (1 - std::pow(rates_.beta1, t)));
  f.root_correction = static_cast<float>(1 / std::sqrt(1 - std::pow(rates_.beta2, t)));
  f.epsilon = static_cast<float>(rates_.epsilon);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    at::Tensor p = parameters_[i];
    if (!p.grad().defined()) continue;
    const at::Tensor gradient = p.grad().contiguous();
    Move(p.data_ptr<float>(), gradient.data_ptr<float>(), first_[i].data_ptr<float>(), second_[i].data_ptr<float>(),
         p.numel(), f);
    p.mutable_grad() = at::Tensor();
  }
}

}  // namespace cobra::space
