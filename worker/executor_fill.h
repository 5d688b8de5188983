// Inside the executor only (LibTorch shows): what inputs, weights and constants contain.
#ifndef COBRA_WORKER_EXECUTOR_FILL_H_
#define COBRA_WORKER_EXECUTOR_FILL_H_

#include <cstdint>
#include <map>
#include <utility>

#include "ATen/core/Tensor.h"
#include "graph/graph.h"
#include "worker/random.h"

namespace cobra::worker {

// A CPU tensor of any type, contiguous: uniform between low and high, never zero where it is real.
void Fill(const at::Tensor& tensor, Random* random, double low, double high);

using IntegerBounds = std::map<std::pair<graph::ValueRef::Kind, int32_t>, int64_t>;
// An integer tensor is nearly always an index: numbers below the size of what it indexes.
IntegerBounds IndexBounds(const graph::Graph& graph);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_EXECUTOR_FILL_H_
