// The 90 % intervals of a model version, from rows that its weights have not seen (those kept for intervals, and those
// by which the best of a few seeds was chosen): how far off its answers are by kind, and the width that 9 of 10 rows
// need, each by a spread that was fitted without it (cross-conformal: Vovk 2015).
#ifndef COBRA_MODEL_FIT_INTERVAL_FIT_H_
#define COBRA_MODEL_FIT_INTERVAL_FIT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/fit/dataset.h"
#include "model/predict/manifest.h"
#include "model/predict/spread.h"

namespace cobra::fit {

// Whose rows intervals are made from.
constexpr Split kIntervalSplits[] = {Split::kInterval, Split::kValidation};

struct SpreadFit {
  predict::SpreadModel model;
  std::vector<double> out_of_fold;  // of each row, the spread by a model of the same penalty that has not seen the row
};

// `off_by`: OffBy (model/fit/metrics.h) of each row of `embeddings`. Quantile regression of its logarithm, the
// penalty by cross-validation; too few rows: a spread of 1.
SpreadFit FitSpread(const std::vector<std::vector<float>>& embeddings, const std::vector<double>& off_by);

absl::StatusOr<predict::IntervalWidths> FitIntervals(absl::string_view model_directory, const Dataset& data);

}  // namespace cobra::fit

#endif  // COBRA_MODEL_FIT_INTERVAL_FIT_H_
