// The deadline of a request, whether its caller still waits, and who that is.
#ifndef COBRA_SERVER_CALL_CONTEXT_H_
#define COBRA_SERVER_CALL_CONTEXT_H_

#include <atomic>
#include <memory>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace cobra::server {

struct Principal;  // access.h

struct CallContext {
  absl::Time deadline = absl::InfiniteFuture();
  const std::atomic<bool>* cancelled = nullptr;  // set from gRPC's threads; not owned
  std::shared_ptr<const Principal> principal;    // null: access control is off, and everybody may do everything

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
