// The vectors of all calls of an encoder that does not learn, computed once. Includes LibTorch
// headers; only files of model/training/ include it.
#ifndef COBRA_MODEL_TRAINING_FROZEN_ENCODER_H_
#define COBRA_MODEL_TRAINING_FROZEN_ENCODER_H_

#include <torch/types.h>

#include "model/net/cobra_net.h"
#include "model/training/batch.h"

namespace cobra::training {

class FrozenEncoder {
 public:
  // Takes the gradients of all of `net` away but those of its graph network. Both outlive it.
  FrozenEncoder(net::CobraNet* net, const TextTable* texts);
  // Of batch.texts: [texts, width]. Texts with a hidden operator are encoded now.
  at::Tensor VectorsOf(const Batch& batch) const;

 private:
  net::CobraNet* const net_;
  const TextTable* const texts_;
  at::Tensor vectors_;  // [texts, width]
};

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_FROZEN_ENCODER_H_
