// Who calls, until when, and whether the answer is still wanted.
#ifndef COBRA_SERVER_LANES_CALL_CONTEXT_H_
#define COBRA_SERVER_LANES_CALL_CONTEXT_H_

#include <atomic>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/bytes/hash.h"

namespace cobra::server {

class KeptReaders;     // reader/kept_readers.h
struct Principal;      // access/access.h
struct RequestStages;  // request_record.h

// Of whatever a drain refuses or ends.
inline absl::Status StoppingError() { return absl::UnavailableError("the server is stopping; use another one"); }

struct CallContext {
  std::string caller;  // to whom this request counts (access/caller.h)
  absl::Time deadline = absl::InfiniteFuture();
  const std::atomic<bool>* cancelled = nullptr;  // set from gRPC's threads; not owned
  const std::atomic<bool>* abandoned = nullptr;  // set when the time of a drain is over; not owned
  // Keyed hash of the request's bytes (base/bytes/keyed_hash.h), of RPCs whose replies are cached.
  Hash128 request;
  std::shared_ptr<const std::string> labels;  // call_metadata.h; null: none
  std::string request_id;           // of calls that make a version of a target (targets/done_once.h); empty: none
  RequestStages* stages = nullptr;  // where the time is noted; null: nowhere; not owned
  KeptReaders* readers = nullptr;   // of several requests in one call; null: none; not owned
  bool is_warm_up = false;          // nobody asks: a new version is prepared (LiveModel::Warm)
  std::shared_ptr<const Principal> principal;  // null: access control is off, and everybody may do everything

  bool Stopped() const { return IsSet(cancelled) || IsSet(abandoned) || absl::Now() > deadline; }
  absl::Status Check() const {
    const absl::Status caller = CheckCaller();
    return caller.ok() && IsSet(abandoned) ? StoppingError() : caller;
  }
  // Whether somebody still waits for an answer, even if it is that the server is stopping.
  absl::Status CheckCaller() const {
    // The deadline is checked first, because gRPC also cancels a call whose deadline has passed.
    if (absl::Now() > deadline) return absl::DeadlineExceededError("the deadline of the request has passed");
    if (IsSet(cancelled)) return absl::CancelledError("the caller disconnected");
    return absl::OkStatus();
  }

 private:
  static bool IsSet(const std::atomic<bool>* flag) { return flag != nullptr && flag->load(std::memory_order_relaxed); }
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_LANES_CALL_CONTEXT_H_
