// Whom a question without --target is for.
#ifndef COBRA_CLIENT_ADAPT_USUAL_TARGETS_H_
#define COBRA_CLIENT_ADAPT_USUAL_TARGETS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/request/common_flags.h"

namespace cobra::client {

// The targets of a question without --target: this-machine if it is calibrated, otherwise all
// trained targets. At a terminal the calibration is offered once.
absl::StatusOr<std::vector<std::string>> UsualTargets(const CommonFlags& common);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ADAPT_USUAL_TARGETS_H_
