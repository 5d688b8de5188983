// How far off an answer may be, after what it is an answer about: some kinds of calls and networks are predicted three
// times as well as others, and an interval of one width for all holds too much of these and too little of those. The
// spread is what the half-width is multiplied by: exp(bias + weights . embedding), of a layer's embedding or the mean
// over a network's calls, each by its share. It is fitted to what nine errors of ten stay below, so that the half-width
// only corrects it (conformalized quantile regression: Romano et al. 2019; the form of a scale: Lei et al. 2018, 5.2).
#ifndef COBRA_MODEL_PREDICT_SPREAD_H_
#define COBRA_MODEL_PREDICT_SPREAD_H_

#include <vector>

#include "absl/types/span.h"

namespace cobra::predict {

struct SpreadModel {
  double bias = 0;
  std::vector<float> weights;  // as long as an embedding; empty: the spread is 1
  // Logarithms between which nearly all rows lie that it was fitted to: an embedding unlike all of them has one of
  // these, not what the line would make of it.
  double least = 0, greatest = 0;
};

double SpreadOf(const SpreadModel& model, absl::Span<const float> embedding);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_SPREAD_H_
