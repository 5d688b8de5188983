// AdamW (Loshchilov and Hutter, 2019, ICLR) in one pass over weights, gradients and moments.
// LibTorch's own makes a dozen passes, which dominate a step with batches as small as the published
// ones (1 to 10 graphs). The results are equal up to rounding. Includes LibTorch headers.
#ifndef COBRA_MODEL_SPACE_MODELS_FUSED_ADAMW_H_
#define COBRA_MODEL_SPACE_MODELS_FUSED_ADAMW_H_

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace cobra::space {

struct AdamWRates {
  double learning_rate = 1e-3, weight_decay = 1e-2, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
};

class FusedAdamW {
 public:
  // Parameters are float32 on the CPU, contiguous.
  FusedAdamW(std::vector<at::Tensor> parameters, const AdamWRates& rates);
  // Updates the weights by their gradients and clears the gradients.
  void Step(double learning_rate);
  void Step() { Step(rates_.learning_rate); }

 private:
  const std::vector<at::Tensor> parameters_;
  const AdamWRates rates_;
  std::vector<at::Tensor> first_, second_;  // moments
  int64_t steps_ = 0;
};

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_MODELS_FUSED_ADAMW_H_
