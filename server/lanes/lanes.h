// The threads of the server, by what they work on (rpcs.h): a slow database holds those of the
// queue and nothing else.
#ifndef COBRA_SERVER_LANES_LANES_H_
#define COBRA_SERVER_LANES_LANES_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/lanes/held_bytes.h"
#include "server/lanes/limits.h"
#include "server/lanes/metrics.h"
#include "server/lanes/rpcs.h"
#include "server/lanes/worker_pool.h"

namespace cobra::server {

class Lanes {
 public:
  // `threads`: predictions at a time. `metrics` may be null; not owned.
  Lanes(int threads, const ServerLimits& limits, Metrics* metrics);

  WorkerPool& pool(Lane lane) { return *pools_[static_cast<size_t>(lane)]; }
  void Submit(PoolCall call) {
    WorkerPool& of_rpc = pool(InfoOf(call.rpc).lane);
    of_rpc.Submit(std::move(call));
  }

  // gRPC's threads have answered a prediction themselves. Cheap.
  void NoteFastReply() { pool(Lane::kPredictions).NoteFastReply(); }

  // What callers have the server keep.
  HeldBytes& requests() { return requests_; }
  HeldBytes& replies() { return replies_; }

  // A unary call, from its arrival until gRPC has sent its reply.
  void CallBegan();
  void CallEnded();

  // The steps of a drain. First nothing new is taken.
  void Close();
  bool closed() const { return closed_.load(std::memory_order_relaxed); }
  // Then what waits is refused, and what runs is asked to stop: CallContext::Check() returns
  // Unavailable from now on.
  void Abandon();
  const std::atomic<bool>* abandoned() const { return &abandoned_; }
  // False at the deadline.
  bool WaitIdle(absl::Time deadline);
  bool WaitUntilSent(absl::Time deadline);

 private:
  HeldBytes requests_, replies_;
  std::array<std::unique_ptr<WorkerPool>, std::size(kLanes)> pools_;
  std::atomic<bool> closed_{false}, abandoned_{false};
  absl::Mutex mutex_;
  int64_t open_calls_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_LANES_LANES_H_
