// The limits that a device's data sheet sets to the time of a call: no less than it takes to move
// and compute, no more than a plain product ever takes.
#ifndef COBRA_MODEL_PREDICT_PRICE_SHEET_LIMITS_H_
#define COBRA_MODEL_PREDICT_PRICE_SHEET_LIMITS_H_

#include <cstddef>
#include <vector>

#include "graph/graph.h"
#include "model/predict/price/moving_time.h"
#include "model/predict/price/product_time.h"
#include "model/predict/target/target.h"

namespace cobra::predict {

// Of one network; it outlives this object.
class SheetLimits {
 public:
  SheetLimits(const TargetSpec& sheet, const graph::Graph& graph);
  // Of a call, in log-microseconds; minus and plus infinity: nothing is known.
  double Least(size_t call) const;
  double Most(size_t call) const;
  // Keeps the logarithms of what the calls of the network take within these. What they take
  // together is known better than how it divides among them, so what one call lacks is taken from
  // those that have more than their least: the sum grows only if they have too little to give.
  // `at_most`: also below the most, which lessens the sum.
  void Keep(std::vector<double>* log_us, bool at_most = true) const;

 private:
  const graph::Graph& graph_;
  const MovingTime moving_;
  const ProductTime products_;
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_PRICE_SHEET_LIMITS_H_
