// What products compute, from shapes alone: the multiply-accumulates of the products that ATen runs
// inside a call. They are those of torch.utils.flop_counter.FlopCounterMode with SDPBackend.MATH,
// and those of products that it omits (listed in tests/frontend/python/libraries/macs_test.py).
// Every function takes the arguments of a call that the shape rules accept; `in` has null for None.
// Results saturate at the largest int64_t.
#ifndef COBRA_GRAPH_COST_MACS_H_
#define COBRA_GRAPH_COST_MACS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace cobra::graph {

struct EinsumWork {
  int64_t macs = 0;         // of its batched matrix products
  int64_t elementwise = 0;  // operations of sums before a product, and of elementwise products
};

// As ATen contracts it: from left to right, two operands at a time. Terms beyond the operands given
// are not read.
EinsumWork EinsumWorkOf(const std::string& equation, const std::vector<const TensorType*>& in);

int64_t SdpaMacs(const Node& node, const std::vector<const TensorType*>& in);
int64_t MhaMacs(const Node& node, const std::vector<const TensorType*>& in);

// Layers over whole sequences, including packed ones, and single steps.
int64_t RnnMacs(const Node& node, const std::vector<const TensorType*>& in);
int64_t RnnCellMacs(const Node& node, const std::vector<const TensorType*>& in);

int64_t TensordotMacs(const Node& node, const std::vector<const TensorType*>& in);

// In the cheapest order, which ATen also finds.
int64_t MultiDotMacs(const std::vector<const TensorType*>& in);

// By repeated squaring.
int64_t MatrixPowerMacs(const Node& node, const TensorType& matrix);

// cov, corrcoef: each variable with each.
int64_t CovMacs(const TensorType& input);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_COST_MACS_H_
