// The prices with which a GPU begins: those of its data sheet. Includes LibTorch headers.
#ifndef COBRA_MODEL_TRAINING_FIRST_PRICES_H_
#define COBRA_MODEL_TRAINING_FIRST_PRICES_H_

#include "model/net/cobra_net.h"

namespace cobra::training {

// Processors share the prices that they learn; their peaks differ by a factor of ten. Those of GPUs
// differ by a thousand: a multiply-accumulate starts at two operations of the peak (of
// convolutions, where these have their own), a byte at the bandwidth. Training changes that like
// any weight. For a net that has not been trained.
void StartWithDataSheets(net::CobraNet* net);

// To be called after each step of training. What a kernel takes that only moves bytes stays a price
// of the target, the same for all calls: learned from those that many networks have, it would else
// be wrong for others. The price of a thread's step stays predict::kLogThreadStep: one family of
// networks has nearly all of such steps, and where it is left out of training, nothing else would
// hold the price. What such prices had learned of calls is lost.
void HoldPrices(net::CobraNet* net);
// Whether a version was trained so; an older one is not to be changed by a refit.
bool HoldsPrices(const net::CobraNet& net);

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_FIRST_PRICES_H_
