// What a call takes where it is larger than anything that was measured: time as a line in its work, fitted for each
// kind of call to the large half of what was measured. The networks interpolate; beyond their range their answer stays
// where it was while the work grows. Times of a line grow with the work and never fall below it.
#ifndef COBRA_MODEL_PREDICT_COST_LINE_H_
#define COBRA_MODEL_PREDICT_COST_LINE_H_

#include <map>
#include <string>
#include <vector>

#include "graph/cost.h"
#include "graph/graph.h"

namespace cobra::predict {

struct CostLine {
  double us_per_gflop = 0;  // of floating-point operations
  double us_per_gb = 0;     // of bytes read and written
  double max_us = 0;        // on the line, of the largest call that was measured: beyond it lies what nobody has seen

  double Us(const graph::NodeCost& cost) const;
};

// By CostKey; and under "compute" and "memory", of all calls of the class: for operators that have no line of their
// own.
using CostLines = std::map<std::string, CostLine>;

// The operator's name; "/grouped" behind it for a convolution with groups, which reaches a fraction of the speed.
std::string CostKey(const graph::Node& node);
// Null where the lines are empty, or the call is a view.
const CostLine* FindCostLine(const CostLines& lines, const graph::Node& node);

struct CostSample {
  std::string key;
  graph::CostClass cost_class = graph::CostClass::kMemory;
  graph::NodeCost cost;
  double latency_us = 0;
};
// Least squares of the relative error, slopes not negative, over the half of each kind that has most work. Kinds with
// fewer than 20 samples have no line.
CostLines FitCostLines(const std::vector<CostSample>& samples);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_COST_LINE_H_
