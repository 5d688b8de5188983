// A GPU's prices before training: those of its data sheet. Includes LibTorch headers.
#ifndef COBRA_MODEL_TRAINING_FIRST_PRICES_H_
#define COBRA_MODEL_TRAINING_FIRST_PRICES_H_

#include "model/net/cobra_net.h"

namespace cobra::training {

// Processors share the prices that they learn; their peaks differ by a factor of ten. Those of GPUs
// differ by a thousand: a multiply-accumulate starts at two operations of the peak (of
// convolutions, where these have their own), a byte at the bandwidth. Training changes that like
// any weight. For a net that has not been trained.
void StartWithDataSheets(net::CobraNet* net);

// To be called after each step of training. The price of a kernel that only moves bytes stays one
// per target, the same for all calls: otherwise it would be learned from the calls that many
// networks have, and be wrong for others. The price of a thread's step stays
// predict::kLogThreadStep: nearly all such steps are in one family of networks, and without that
// family in training nothing else would determine the price. What these prices have learned about
// calls is lost.
void HoldPrices(net::CobraNet* net);
// Whether a version was trained in this way; a refit must not change an older one.
bool HoldsPrices(const net::CobraNet& net);

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_FIRST_PRICES_H_
