// The threads that process requests, with a bounded queue. When the queue is full, a request is refused at once
// (RESOURCE_EXHAUSTED) instead of being processed after its caller has given up. gRPC's own threads never run a model.
#ifndef COBRA_SERVER_WORKER_POOL_H_
#define COBRA_SERVER_WORKER_POOL_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/metrics.h"

namespace cobra::server {

class WorkerPool {
 public:
  // `metrics` may be null; not owned.
  WorkerPool(int num_threads, int max_queued, Metrics* metrics);
  ~WorkerPool();  // runs what is queued, then joins

  // ResourceExhausted when the queue is full, Unavailable after Close(); otherwise `task` will run.
  absl::Status Submit(std::function<void()> task);
  // After this call Submit() refuses.
  void Close();
  // Waits until no task runs or waits; false after `timeout`.
  bool WaitIdle(absl::Duration timeout);

 private:
  void Loop();
  void PublishLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t max_queued_;
  Metrics* const metrics_;
  absl::Mutex mutex_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mutex_);
  int64_t running_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_WORKER_POOL_H_
