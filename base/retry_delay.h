// When a refused caller should retry, as a payload of the status.
#ifndef COBRA_BASE_RETRY_DELAY_H_
#define COBRA_BASE_RETRY_DELAY_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace cobra {

// REQUIRES: `status` is not OK, `delay` is not negative.
absl::Status WithRetryDelay(absl::Status status, absl::Duration delay);
// nullopt if the status has none.
std::optional<absl::Duration> RetryDelayOf(const absl::Status& status);

}  // namespace cobra

#endif  // COBRA_BASE_RETRY_DELAY_H_
