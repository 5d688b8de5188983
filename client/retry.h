// Retries while a server is UNAVAILABLE (starting, draining, unreachable), and after the delay that
// a busy one asks for. Other errors are not resolved by waiting.
#ifndef COBRA_CLIENT_RETRY_H_
#define COBRA_CLIENT_RETRY_H_

#include <algorithm>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/retry_delay.h"

namespace cobra::client {

struct RetryPolicy {
  // For an unavailable server: 5.1 s of waiting in total, long enough for a server to start, short
  // enough to report a missing one. A busy server is retried until the deadline.
  int max_attempts = 7;
  absl::Duration initial_backoff = absl::Milliseconds(100);
  absl::Duration max_backoff = absl::Seconds(2);
  bool wait_while_busy = true;
};

// The last attempt's status. `sleep` waits and returns true, or returns false if the deadline comes
// first; a test records the durations instead.
inline absl::Status RetryLoop(const RetryPolicy& policy, absl::FunctionRef<bool(absl::Duration)> sleep,
                              absl::FunctionRef<absl::Status()> attempt) {
  absl::Duration backoff = policy.initial_backoff;
  for (int i = 1;;) {
    absl::Status status = attempt();
    absl::Duration wait = backoff;
    if (absl::IsUnavailable(status)) {
      if (i++ >= policy.max_attempts) return status;
      backoff = std::min(backoff * 2, policy.max_backoff);
    } else if (const auto delay = RetryDelayOf(status); delay.has_value() && policy.wait_while_busy) {
      wait = *delay;
    } else {
      return status;
    }
    if (!sleep(wait)) return status;
  }
}

}  // namespace cobra::client

#endif  // COBRA_CLIENT_RETRY_H_
