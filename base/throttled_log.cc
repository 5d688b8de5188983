#include "base/throttled_log.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace cobra {

void ThrottledLog::Log(LogLevel level, absl::string_view message, absl::Span<const LogField> fields) {
  int64_t left_out = 0;
  {
    absl::MutexLock lock(&mutex_);
    const absl::Time now = absl::Now();
    if (now < next_) {
      ++left_out_;
      return;
    }
    next_ = now + period_;
    left_out = std::exchange(left_out_, 0);
  }
  cobra::Log(level,
             left_out == 0 ? std::string(message)
                           : absl::StrCat(message, " (", left_out, " similar messages were suppressed)"),
             fields);
}

}  // namespace cobra
