// A lower bound for calls that are larger than all measured ones: time as a linear function of the
// work, fitted for each kind of call to the larger half of its measurements. Outside their training
// range, the networks predict nearly constant values while the work grows; this bound grows with
// the work.
#ifndef COBRA_MODEL_PREDICT_WEIGHTS_LINEAR_COST_H_
#define COBRA_MODEL_PREDICT_WEIGHTS_LINEAR_COST_H_

#include <map>
#include <string>
#include <vector>

#include "graph/cost/cost.h"
#include "graph/graph.h"

namespace cobra::predict {

struct LinearCost {
  double us_per_gflop = 0;  // of floating-point operations
  double us_per_gb = 0;     // of bytes read and written
  // The linear time of the largest measured call; calls above it are outside the measured range.
  double max_us = 0;

  double Us(const graph::NodeCost& cost) const;
};

// By CostKey. "compute" and "memory" are fitted to all calls of the class, for operators without an
// separate entry.
using LinearCosts = std::map<std::string, LinearCost>;

// The operator's name; with the suffix "/grouped" for a convolution with groups, which is many
// times slower per operation.
std::string CostKey(const graph::Node& node);
// Null if `lines` is empty, or if the call is a view.
const LinearCost* FindLinearCost(const LinearCosts& lines, const graph::Node& node);

struct CostSample {
  std::string key;
  graph::CostClass cost_class = graph::CostClass::kMemory;
  graph::NodeCost cost;
  double latency_us = 0;
};
// Least squares of the relative error with non-negative slopes, over the half of each kind with
// most work. Kinds with fewer than 20 samples have no entry.
LinearCosts FitLinearCosts(const std::vector<CostSample>& samples);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_WEIGHTS_LINEAR_COST_H_
