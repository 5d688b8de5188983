// What a call takes on a device, by its data sheet: no less than it must move and compute, no more than a plain product
// ever takes.
#ifndef COBRA_MODEL_PREDICT_SHEET_LIMITS_H_
#define COBRA_MODEL_PREDICT_SHEET_LIMITS_H_

#include <cstddef>

#include "graph/graph.h"
#include "model/predict/moving_time.h"
#include "model/predict/product_time.h"
#include "model/predict/target.h"

namespace cobra::predict {

// Of one network; it outlives this object.
class SheetLimits {
 public:
  SheetLimits(const TargetSpec& sheet, const graph::Graph& graph);
  // Of a call, in log-microseconds; minus and plus infinity: nothing is known.
  double Least(size_t call) const;
  double Most(size_t call) const;
  double Within(size_t call, double log_us) const;
  // Of an adapted device: timings may say that it is slower than its sheet; none, that it is faster.
  double WithinOfAdapted(size_t call, double log_us, int samples) const;

 private:
  const graph::Graph& graph_;
  const MovingTime moving_;
  const ProductTime products_;
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_SHEET_LIMITS_H_
