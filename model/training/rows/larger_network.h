// A network at a larger batch or with more channels: it takes no less time on any device, which
// training learns in addition to what was measured.
#ifndef COBRA_MODEL_TRAINING_ROWS_LARGER_NETWORK_H_
#define COBRA_MODEL_TRAINING_ROWS_LARGER_NETWORK_H_

#include <optional>
#include <random>
#include <vector>

#include "graph/graph.h"

namespace cobra::training {

// Doubles the first dimension of every input, and of every value that follows from it, the sizes in
// views included. nullopt if the network does not let itself be read so: inputs without a common
// first dimension, sums over the batch, sizes that cannot be distinguished.
std::optional<graph::Graph> WithTwiceTheBatch(const graph::Graph& graph);

// A random perceptron, in widths from narrow to wide, each at least twice the one before.
std::vector<graph::Graph> PerceptronsByWidth(std::mt19937_64* random);

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_ROWS_LARGER_NETWORK_H_
