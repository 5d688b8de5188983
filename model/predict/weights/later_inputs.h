// Adds inputs to versions that were trained before a target's specification had all of its
// features, or a call all of its kinds of work (model/predict/work/features.h).
#ifndef COBRA_MODEL_PREDICT_WEIGHTS_LATER_INPUTS_H_
#define COBRA_MODEL_PREDICT_WEIGHTS_LATER_INPUTS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::predict {

// Features are appended, never removed. What a version has not learned counts nothing in it: the
// tensors of its file (base/file/tensor_file.h) that multiply a specification of `had` features,
// and the vector of a target behind them, get columns of zeros for the others. No answer changes.
// DataLoss if the file is malformed.
absl::StatusOr<std::string> WithAllSpecFeatures(absl::string_view tensors, int64_t had);
// The same of kinds of work: those that a version has not learned cost nothing in it (kNoPrice), or
// what the kind costs that they were one with (WasOneWith).
inline constexpr float kNoPrice = -60;
absl::StatusOr<std::string> WithAllWorkTerms(absl::string_view tensors, int64_t had);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_WEIGHTS_LATER_INPUTS_H_
