// Looks for threads that still work on a call after its deadline. Each such call is in the log and
// in the metrics once. A lane with as many of them as it has threads cannot answer, which the
// health service must say: its spare threads serve only callers that have nothing running. The same
// thread returns free memory (memory_trim.h).
#ifndef COBRA_SERVER_LANES_WATCHDOG_H_
#define COBRA_SERVER_LANES_WATCHDOG_H_

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/lanes/lanes.h"
#include "server/lanes/metrics.h"
#include "server/lanes/rpcs.h"

namespace cobra::server {

struct WatchdogOptions {
  absl::Duration grace = absl::Seconds(1);  // a call may take this much longer than its deadline
  absl::Duration period = absl::Milliseconds(200);
};

class Watchdog {
 public:
  // Called from the watchdog's thread when a lane can answer no longer, or again.
  using LaneChanged = std::function<void(Lane lane, bool can_answer)>;

  // The pointers are not owned and must outlive this object.
  Watchdog(const WatchdogOptions& options, Lanes* lanes, Metrics* metrics, LaneChanged changed);
  ~Watchdog();

 private:
  void Loop();
  bool CanAnswer(Lane lane);

  const WatchdogOptions options_;
  Lanes* const lanes_;
  Metrics* const metrics_;
  const LaneChanged changed_;
  absl::Mutex mutex_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: starts when everything else exists
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_LANES_WATCHDOG_H_
