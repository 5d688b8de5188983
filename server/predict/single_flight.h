// Of threads that want the same computed at the same time, one computes and the others wait for its
// result, which they find in a cache.
#ifndef COBRA_SERVER_PREDICT_SINGLE_FLIGHT_H_
#define COBRA_SERVER_PREDICT_SINGLE_FLIGHT_H_

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/bytes/hash.h"

namespace cobra::server {

class SingleFlight {
 public:
  // True: the caller computes `key` now, and calls End(). False: another thread did so, or failed,
  // or `stopped` is true.
  bool Begin(const Hash128& key, absl::FunctionRef<bool()> stopped) {
    constexpr absl::Duration kStopPeriod = absl::Milliseconds(20);
    absl::MutexLock lock(&mutex_);
    if (running_.insert(key).second) return true;
    const auto done = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !running_.contains(key); };
    while (!mutex_.AwaitWithTimeout(absl::Condition(&done), kStopPeriod) && !stopped()) {
    }
    return false;
  }

  void End(const Hash128& key) {
    absl::MutexLock lock(&mutex_);
    running_.erase(key);
  }

 private:
  absl::Mutex mutex_;
  absl::flat_hash_set<Hash128> running_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_PREDICT_SINGLE_FLIGHT_H_
