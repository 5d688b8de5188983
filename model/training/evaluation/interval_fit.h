// Fits the 90 % intervals of a model version to rows that it was not trained on: those kept for
// intervals, and those that selected the best seed. The spread models the size of the errors by
// kind. The width is what 9 of 10 rows need, each with a spread that was fitted without the row
// (cross-conformal: Vovk 2015).
#ifndef COBRA_MODEL_TRAINING_EVALUATION_INTERVAL_FIT_H_
#define COBRA_MODEL_TRAINING_EVALUATION_INTERVAL_FIT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/predict/target/target.h"
#include "model/predict/weights/manifest.h"
#include "model/predict/weights/spread.h"
#include "model/training/rows/dataset.h"

namespace cobra::training {

// The splits whose rows are used for intervals.
constexpr Split kIntervalSplits[] = {Split::kInterval, Split::kValidation};

struct SpreadFit {
  predict::SpreadModel model;
  // Of each row, the spread by a model with the same penalty that was fitted without the row.
  std::vector<double> out_of_fold;
};

// `off_by`: AbsLogError (model/training/rows/metrics.h) of each row of `embeddings`. Quantile
// regression of its logarithm, the penalty by cross-validation; too few rows: a spread of 1.
// `family`: a number of each row; rows of one family err together, and none of them is in the fit
// that others of it are held against. Empty, or fewer than five families: each row is one of its
// own.
SpreadFit FitSpread(const std::vector<std::vector<float>>& embeddings, const std::vector<double>& off_by,
                    const std::vector<int64_t>& family = {});

// Fewer networks do not say which error nine of ten stay below.
constexpr size_t kFewNetworks = 20;

struct IntervalFit {
  predict::IntervalWidths widths;
  std::vector<double> network_scores;  // |log(predicted / measured)| of each network / its spread
};
absl::StatusOr<IntervalFit> FitIntervals(absl::string_view model_directory, const Dataset& data, int target = 0);

// Targets with few networks left for intervals get the width that those of their kind, runtime and
// compiler need together. `targets` and `fits`: one of each data set.
void PoolFewNetworks(absl::Span<const predict::TargetSpec* const> targets, absl::Span<IntervalFit> fits);

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_EVALUATION_INTERVAL_FIT_H_
