// The 90 % intervals of a model version: how far off its answers are by kind from the validation rows, which its
// weights have not seen, and the width that 9 of 10 need from the rows that are kept for nothing else.
#ifndef COBRA_MODEL_TRAIN_INTERVAL_FIT_H_
#define COBRA_MODEL_TRAIN_INTERVAL_FIT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/predict/manifest.h"
#include "model/predict/spread.h"
#include "model/train/dataset.h"

namespace cobra {

// `off_by`: |log predicted - log measured| of each row of `embeddings`. Ridge regression of its logarithm, the penalty
// by leaving one out; too few rows: a spread of 1.
SpreadModel FitSpread(const std::vector<std::vector<float>>& embeddings, const std::vector<double>& off_by);

// |log predicted - log measured|.
double OffBy(const Sample& measured, double predicted_us);

absl::StatusOr<IntervalWidths> FitIntervals(absl::string_view model_directory, const Dataset& data);

}  // namespace cobra

#endif  // COBRA_MODEL_TRAIN_INTERVAL_FIT_H_
