// A network on twice as many inputs: it takes no less time on any device, which training adds to what was measured.
#ifndef COBRA_MODEL_FIT_LARGER_BATCH_H_
#define COBRA_MODEL_FIT_LARGER_BATCH_H_

#include <optional>

#include "graph/graph.h"

namespace cobra::fit {

// Doubles the first dimension of every input, and of every value that follows from it, the sizes in views included.
// nullopt if the network does not let itself be read so: inputs without a common first dimension, sums over the batch,
// sizes that cannot be distinguished.
std::optional<graph::Graph> WithTwiceTheBatch(const graph::Graph& graph);

}  // namespace cobra::fit

#endif  // COBRA_MODEL_FIT_LARGER_BATCH_H_
