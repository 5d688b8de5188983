// The deadline of a request, and whether its caller still waits.
#ifndef COBRA_SERVER_CALL_CONTEXT_H_
#define COBRA_SERVER_CALL_CONTEXT_H_

#include <atomic>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace cobra::server {

struct CallContext {
  absl::Time deadline = absl::InfiniteFuture();
  const std::atomic<bool>* cancelled = nullptr;  // set from gRPC's threads; not owned

  bool Stopped() const {
    return (cancelled != nullptr && cancelled->load(std::memory_order_relaxed)) || absl::Now() > deadline;
  }
  absl::Status Check() const {
    // The deadline is checked first, because gRPC also cancels a call whose deadline has passed.
    if (absl::Now() > deadline) return absl::DeadlineExceededError("the deadline of the request has passed");
    if (cancelled != nullptr && cancelled->load(std::memory_order_relaxed))
      return absl::CancelledError("the caller went away");
    return absl::OkStatus();
  }
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_CALL_CONTEXT_H_
