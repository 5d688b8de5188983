// Whether the confidence says something about the error: compares the rows that a version is sure
// of with the others.
#ifndef COBRA_MODEL_TRAINING_EVALUATION_CONFIDENCE_CHECK_H_
#define COBRA_MODEL_TRAINING_EVALUATION_CONFIDENCE_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/training/rows/dataset.h"

namespace cobra::training {

// Of rows with a confidence of at least kSure, and of the rest: how many, and the median of
// |predicted / measured - 1|.
inline constexpr double kSure = 0.9;
struct ErrorsByConfidence {
  int64_t sure = 0, others = 0;
  double median_of_sure = 0, median_of_others = 0;  // 0 without rows
  // By how much measurements of one subject differ (RepeatabilityFloor, metrics.h): no order of
  // errors below it says anything. 0: nothing was measured twice.
  double floor = 0;
};

// A row as it was measured, and as a user is answered.
struct AnsweredRow {
  std::string kind;  // "layer", "network"
  std::string space, label, fingerprint;
  double measured_us = 0, predicted_us = 0, low_us = 0, high_us = 0, confidence = 0;
};

struct ConfidenceCheck {
  ErrorsByConfidence layers, networks;
  std::vector<AnsweredRow> rows;
};

// Asks as users do, so that limits, doubts and what a runtime folds count. NotFound if the version
// lacks the target.
absl::StatusOr<ConfidenceCheck> CheckConfidence(absl::string_view model_directory, const Dataset& data, Split split);

// One line each: "networks: 120 with a confidence of 0.9 or more, median error 4.1 %; 33 others,
// 9.7 %; ratio 0.42". Where the median errors of both are below the floor, the line says so.
std::string ConfidenceCheckToTable(const ConfidenceCheck& check);
// kind,space,label,fingerprint,measured_us,predicted_us,low_us,high_us,confidence
std::string AnsweredRowsToCsv(const ConfidenceCheck& check);

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_EVALUATION_CONFIDENCE_CHECK_H_
