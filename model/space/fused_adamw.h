// AdamW (Loshchilov and Hutter, 2019, ICLR) in one pass over weights, gradients and moments. LibTorch's own makes a
// dozen passes, which is most of a step where batches are as small as published ones (1 to 10 graphs). The same numbers
// up to rounding. Shows LibTorch.
#ifndef COBRA_MODEL_SPACE_FUSED_ADAMW_H_
#define COBRA_MODEL_SPACE_FUSED_ADAMW_H_

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
  // Moves the weights by their gradients, and leaves them without: the next backward() need not add to anything.
  void Step(double learning_rate);
  void Step() { Step(rates_.learning_rate); }

 private:
  const std::vector<at::Tensor> parameters_;
  const AdamWRates rates_;
  std::vector<at::Tensor> first_, second_;  // moments
  int64_t steps_ = 0;
};

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_FUSED_ADAMW_H_
