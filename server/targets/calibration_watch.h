// Calibrations that were made or withdrawn through another server of the same database. One thread
// listens, and has them read again when there was a change and after every connection, because what
// happens without one is not heard.
// It is also the one that notices, and says, that the store was removed or replaced while nobody
// uses it.
#ifndef COBRA_SERVER_TARGETS_CALIBRATION_WATCH_H_
#define COBRA_SERVER_TARGETS_CALIBRATION_WATCH_H_

#include <functional>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/throttled_log.h"
#include "server/lanes/metrics.h"
#include "store/sql/change_listener.h"

namespace cobra::server {

struct CalibrationWatchOptions {
  // Of one attempt to connect. A host of several that does not answer takes 10 s of it
  // (tcp_user_timeout).
  absl::Duration connect_time = absl::Seconds(30);
  // Between attempts: doubled from the first to the last while nothing works.
  absl::Duration first_pause = absl::Milliseconds(100), last_pause = absl::Seconds(5);
  // Calibrations are read so often even if nothing is heard: a proxy of the database may swallow
  // notifications (PgBouncer does, unless it pools by session).
  absl::Duration read_anyway = absl::Minutes(1);
};

class CalibrationWatch {
 public:
  // `refresh` reads the calibrations again. It is called from the thread of this object until that
  // has ended.
  CalibrationWatch(const CalibrationWatchOptions& options, std::unique_ptr<store::ChangeListener> listener,
                   std::function<absl::Status()> refresh, Metrics* metrics);
  // Waits for a `refresh` that runs.
  ~CalibrationWatch();

  // Ends the thread; does not wait for it.
  void Close();
  // Whether the thread has ended by then. REQUIRES: Close() was called.
  bool WaitClosed(absl::Time deadline);

 private:
  void Loop();
  absl::Status Follow();
  // Whether Close() was called meanwhile.
  bool Sleep(absl::Duration time);

  const CalibrationWatchOptions options_;
  const std::unique_ptr<store::ChangeListener> listener_;
  const std::function<absl::Status()> refresh_;
  Metrics* const metrics_;
  absl::Duration pause_;  // before the next attempt; the thread's own
  bool lost_ = false;     // the log says so; the thread's own
  ThrottledLog failures_{absl::Minutes(1)}, losses_{absl::Minutes(1)};
  absl::Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: starts when everything else exists
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_TARGETS_CALIBRATION_WATCH_H_
