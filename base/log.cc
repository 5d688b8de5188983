#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace cobra {
namespace {
std::atomic<LogLevel> min_level{LogLevel::kInfo};
}  // namespace

void SetMinLogLevel(LogLevel level) { min_level.store(level, std::memory_order_relaxed); }

void Log(LogLevel level, absl::string_view message) {
  if (level < min_level.load(std::memory_order_relaxed)) return;
  const char letter = level == LogLevel::kInfo ? 'I' : level == LogLevel::kWarning ? 'W' : 'E';
  const std::string line = absl::StrCat(absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone()), " ",
                                        absl::string_view(&letter, 1), " ", message, "\n");
  // One write per line, so that lines of several threads and processes do not mix.
  ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
  (void)ignored;
}

}  // namespace cobra
