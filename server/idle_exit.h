// Ends a server that nobody asks any more: one that a client started for its user
// (client/local_server.h).
#ifndef COBRA_SERVER_IDLE_EXIT_H_
#define COBRA_SERVER_IDLE_EXIT_H_

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/lanes/metrics.h"

namespace cobra::server {

class IdleExit {
 public:
  // Calls `stop` once, from its own thread, when for `limit` no request of the API ran or came.
  // `metrics` is not owned.
  IdleExit(absl::Duration limit, const Metrics* metrics, std::function<void()> stop);
  ~IdleExit();

 private:
  void Loop();

  const absl::Duration limit_;
  const Metrics* const metrics_;
  const std::function<void()> stop_;
  absl::Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: starts when everything else exists
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_IDLE_EXIT_H_
