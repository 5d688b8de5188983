// Whether a device's data sheet can be true. One that contradicts itself is refused before a target
// is made from it.
#ifndef COBRA_MODEL_PREDICT_TARGET_SHEET_CHECK_H_
#define COBRA_MODEL_PREDICT_TARGET_SHEET_CHECK_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "model/predict/target/target.h"

namespace cobra::predict {

// InvalidArgument, which begins with the field and its value ("threads 16: ..."). 0 in a number
// means unknown.
absl::Status CheckSheet(const TargetSpec& sheet);

// InvalidArgument unless it is one of the precisions that targets have (target.h).
absl::Status CheckPrecisionName(absl::string_view precision);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_TARGET_SHEET_CHECK_H_
