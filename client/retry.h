// Retries while a server is UNAVAILABLE (starting, draining, out of reach). Other errors are not resolved by waiting.
#ifndef COBRA_CLIENT_RETRY_H_
#define COBRA_CLIENT_RETRY_H_

#include <algorithm>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

namespace cobra::client {

struct RetryPolicy {
  // 5.1 s of waiting in all: long enough for a server to start, short enough to report a missing one.
  int max_attempts = 7;
  absl::Duration initial_backoff = absl::Milliseconds(100);
  absl::Duration max_backoff = absl::Seconds(2);
};

// The last attempt's status. `sleep` waits; a test records the durations instead.
inline absl::Status RetryLoop(const RetryPolicy& policy, absl::FunctionRef<void(absl::Duration)> sleep,
                              absl::FunctionRef<absl::Status()> attempt) {
  absl::Duration backoff = policy.initial_backoff;
  for (int i = 1;; ++i) {
    absl::Status status = attempt();
    if (!absl::IsUnavailable(status) || i >= policy.max_attempts) return status;
    sleep(backoff);
    backoff = std::min(backoff * 2, policy.max_backoff);
  }
}

}  // namespace cobra::client

#endif  // COBRA_CLIENT_RETRY_H_
