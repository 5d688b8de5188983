// The expected size of the error of a prediction, depending on its subject. Some kinds of calls and
// networks are predicted three times as accurately as others, so one interval width for all would
// cover some kinds too often and others not often enough. The half-width is multiplied by the
// spread: exp(bias + weights . embedding), for a layer's embedding, or for a network's mean
// embedding weighted by the shares of its calls. The spread is fitted to the 90 % quantile of the
// errors, and the conformal half-width corrects it (conformalized quantile regression: Romano et
// al. 2019; the form of a scale: Lei et al. 2018, 5.2).
#ifndef COBRA_MODEL_PREDICT_WEIGHTS_SPREAD_H_
#define COBRA_MODEL_PREDICT_WEIGHTS_SPREAD_H_

#include <vector>

#include "absl/types/span.h"

namespace cobra::predict {

struct SpreadModel {
  double bias = 0;
  std::vector<float> weights;  // as long as an embedding; empty: the spread is 1
  // Bounds of the logarithm, between which nearly all rows of the fit lie. For an embedding unlike
  // all of them, the linear value is clamped to these bounds.
  double least = 0, greatest = 0;
};

double SpreadOf(const SpreadModel& model, absl::Span<const float> embedding);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_WEIGHTS_SPREAD_H_
