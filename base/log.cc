#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace cobra {
namespace {

std::atomic<LogLevel> min_level{LogLevel::kInfo};

constexpr size_t kLongestText = 4000;

// How many bytes the character at the start of `text` has in UTF-8; 0 if it is none, or a control character (those of
// ISO 8859-1 included, which some terminals obey).
size_t PrintableBytes(absl::string_view text) {
  const auto byte = [&text](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return byte(0) >= 0x20 && byte(0) != 0x7F && byte(0) != '\\' ? 1 : 0;
  const size_t size = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return byte(0) == 0xC2 && byte(1) < 0xA0 ? 0 : size;
}

}  // namespace

std::string LogText(absl::string_view message) {
  std::string text;
  while (!message.empty()) {
    if (text.size() >= kLongestText) return text + " ...";
    const size_t size = PrintableBytes(message);
    text += size > 0 ? std::string(message.substr(0, size)) : absl::CHexEscape(message.substr(0, 1));
    message.remove_prefix(std::max<size_t>(1, size));
  }
  return text;
}

void SetMinLogLevel(LogLevel level) { min_level.store(level, std::memory_order_relaxed); }

void Log(LogLevel level, absl::string_view message) {
  if (level < min_level.load(std::memory_order_relaxed)) return;
  const char letter = level == LogLevel::kInfo ? 'I' : level == LogLevel::kWarning ? 'W' : 'E';
  const std::string line = absl::StrCat(absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone()), " ",
                                        absl::string_view(&letter, 1), " ", LogText(message), "\n");
  // One write per line, so that lines of several threads and processes do not mix.
  ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
  (void)ignored;
}

}  // namespace cobra
