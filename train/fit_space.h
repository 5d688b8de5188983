// `cobra-train fit --space SPACE --rows CSV --out DIR`: a model of a search space from a table of
// latencies (docs/spaces.md).
#ifndef COBRA_TRAIN_FIT_SPACE_H_
#define COBRA_TRAIN_FIT_SPACE_H_

#include <string>

#include "absl/status/status.h"

namespace cobra::train {

// NotFound lists the spaces.
absl::Status FitSpace(const std::string& space, const std::string& rows, const std::string& out);

}  // namespace cobra::train

#endif  // COBRA_TRAIN_FIT_SPACE_H_
