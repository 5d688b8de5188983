// What to ask instead of a target that does not exist.
#ifndef COBRA_MODEL_PREDICT_TARGET_TARGET_HINT_H_
#define COBRA_MODEL_PREDICT_TARGET_TARGET_HINT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cobra::predict {

// A hint for whoever asked about `name`, which is none of the targets `known`. If it names a GPU of
// GpuTable() ("H100", "gpu-rtx-4090", "a100-bf16"): the command that makes a target of that GPU,
// after the targets that were measured on it; otherwise the known names that are nearest.
std::string UnknownTargetHint(absl::string_view name, const std::vector<std::string>& known);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_TARGET_TARGET_HINT_H_
