// The optimizer of training and refitting: AdamW, a warm-up and a cosine schedule, and a moving
// average of the weights. Includes LibTorch headers; only files of model/ and lab/ include it.
#ifndef COBRA_MODEL_TRAINING_OPTIMIZER_H_
#define COBRA_MODEL_TRAINING_OPTIMIZER_H_

#include <torch/types.h>
#include <torch/utils.h>

// Expects the names of torch/types.h.
#include <torch/optim/adamw.h>

#include <vector>

namespace cobra::training {

torch::optim::AdamW MakeOptimizer(const std::vector<at::Tensor>& parameters, double learning_rate, double weight_decay);

// `progress` from 0 to 1. Linear from 1 % to 100 % over the first `warmup` of it, then half a
// cosine down to 1 %.
double LearningRateFactor(double progress, double warmup);
void SetLearningRate(torch::optim::AdamW* optimizer, double learning_rate, double progress, double warmup);

// All weights that are trained as one tensor, whose parts they become, and their gradients
// likewise. An optimizer's step is then a dozen operations; for each of a hundred weights it would
// be a thousand, which a GPU waits for.
class FlatParameters {
 public:
  explicit FlatParameters(std::vector<at::Tensor> parameters);
  // [weights], with its gradient.
  const at::Tensor& all() const { return all_; }
  // Also of weights whose gradients others took away, as an optimizer's zero_grad may.
  void ZeroGradients();

 private:
  const std::vector<at::Tensor> parameters_;
  at::Tensor all_;
};

// Exponential moving average of weights.
class WeightAverage {
 public:
  // `decay`: of the average after many steps. Early steps use a smaller decay, so that the initial
  // weights are forgotten.
  WeightAverage(std::vector<at::Tensor> parameters, double decay);
  void Update(int step);
  // Exchanges the weights and their average. Call it again to restore the weights.
  void Swap();
  std::vector<at::Tensor>& values() { return average_; }
  const std::vector<at::Tensor>& values() const { return average_; }

 private:
  const std::vector<at::Tensor> parameters_;
  const double decay_;
  std::vector<at::Tensor> average_;
};

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_OPTIMIZER_H_
