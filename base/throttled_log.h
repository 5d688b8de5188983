// A warning that could occur a thousand times a second, when a disk is full or a database is down.
#ifndef COBRA_BASE_THROTTLED_LOG_H_
#define COBRA_BASE_THROTTLED_LOG_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/log.h"

namespace cobra {

class ThrottledLog {
 public:
  explicit ThrottledLog(absl::Duration period = absl::Seconds(10)) : period_(period) {}

  // Logs at most one message in each period, with the number of messages suppressed since the last
  // one.
  void Log(LogLevel level, absl::string_view message, absl::Span<const LogField> fields = {});
  void Warning(absl::string_view message) { Log(LogLevel::kWarning, message); }
  void Error(absl::string_view message) { Log(LogLevel::kError, message); }

 private:
  const absl::Duration period_;
  absl::Mutex mutex_;
  absl::Time next_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  int64_t left_out_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace cobra

#endif  // COBRA_BASE_THROTTLED_LOG_H_
