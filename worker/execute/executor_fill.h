// Inside the executor only (LibTorch shows): the values of inputs, weights and constants.
#ifndef COBRA_WORKER_EXECUTE_EXECUTOR_FILL_H_
#define COBRA_WORKER_EXECUTE_EXECUTOR_FILL_H_

#include <cstdint>
#include <vector>

#include "ATen/core/Tensor.h"
#include "graph/graph.h"
#include "worker/sample/random.h"

namespace cobra::worker {

// A CPU tensor of any type, contiguous: uniform between low and high, and never zero for real
// types.
void Fill(const at::Tensor& tensor, Random* random, double low, double high);

// Gives inputs that are the ends of groups (graph::Selects::kGroup) the values of groups of one
// size.
void SpreadGroups(const graph::Graph& graph, std::vector<at::Tensor>* inputs);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_EXECUTE_EXECUTOR_FILL_H_
