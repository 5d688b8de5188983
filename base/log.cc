#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/text/utf8.h"
#include "base/text/without_escapes.h"
#include "nlohmann/json.hpp"

namespace cobra {
namespace {

std::atomic<LogLevel> min_level{LogLevel::kInfo};
std::atomic<LogFormat> log_format{LogFormat::kText};

constexpr size_t kLongestText = 4000;

// Whether a terminal obeys the character, which is the beginning of `text`, or it would end the
// line.
bool IsControl(absl::string_view text) { return text[0] == '\n' || text[0] == '\t' || ObeyedBytes(text) > 0; }

// A value cannot pass for another field.
std::string QuotedIfNeeded(const std::string& text) {
  if (!text.empty() && text.find_first_of(" \"=") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\\\""}}), "\"");
}

std::string TextLine(LogLevel level, absl::string_view time, absl::string_view message,
                     absl::Span<const LogField> fields) {
  constexpr const char* kLetters[] = {"I", "W", "E"};
  std::string line = absl::StrCat(time, " ", kLetters[static_cast<int>(level)], " ", LogText(message));
  for (const LogField& field : fields) {
    absl::StrAppend(&line, " ", field.name, "=");
    if (const auto* number = std::get_if<double>(&field.value)) {
      absl::StrAppend(&line, *number);
    } else {
      absl::StrAppend(&line, QuotedIfNeeded(LogText(std::get<absl::string_view>(field.value))));
    }
  }
  return line;
}

std::string JsonLine(LogLevel level, absl::string_view time, absl::string_view message,
                     absl::Span<const LogField> fields) {
  constexpr const char* kLevels[] = {"info", "warning", "error"};
  nlohmann::ordered_json line = {
      {"time", std::string(time)}, {"level", kLevels[static_cast<int>(level)]}, {"message", LogText(message)}};
  for (const LogField& field : fields) {
    nlohmann::ordered_json& value = line[std::string(field.name)];
    if (const auto* number = std::get_if<double>(&field.value)) {
      value = *number;
    } else {
      value = LogText(std::get<absl::string_view>(field.value));
    }
  }
  return line.dump();
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

void SetLogFormat(LogFormat format) { log_format.store(format, std::memory_order_relaxed); }

void Log(LogLevel level, absl::string_view message, absl::Span<const LogField> fields) {
  if (level < min_level.load(std::memory_order_relaxed)) return;
  const std::string time = absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone());
  const bool json = log_format.load(std::memory_order_relaxed) == LogFormat::kJson;
  const std::string line = (json ? JsonLine : TextLine)(level, time, message, fields) + "\n";
  // One write per line, so that lines of several threads and processes do not mix.
  ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
  (void)ignored;
}

}  // namespace cobra
