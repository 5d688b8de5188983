#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/utf8.h"

namespace cobra {
namespace {

std::atomic<LogLevel> min_level{LogLevel::kInfo};

constexpr size_t kLongestText = 4000;

// Whether a terminal may obey the character, which is the beginning of `text`: those of ASCII, and those of ISO 8859-1.
bool IsControl(absl::string_view text) {
  const auto byte = [&text](size_t i) { return static_cast<unsigned char>(text[i]); };
  return byte(0) < 0x20 || byte(0) == 0x7F || (byte(0) == 0xC2 && byte(1) < 0xA0);
}

}  // namespace

std::string LogText(absl::string_view message) {
  std::string text;
  while (!message.empty()) {
    if (text.size() >= kLongestText) return text + " ...";
    const size_t size = Utf8CharacterBytes(message);
    const bool plain = size > 0 && !IsControl(message) && message[0] != '\\';
    text += plain ? std::string(message.substr(0, size)) : absl::CHexEscape(message.substr(0, 1));
    message.remove_prefix(plain ? size : 1);
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
