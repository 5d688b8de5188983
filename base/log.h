// Lines on standard error: "2026-11-20T08:00:00.123Z I message name=value". Standard output is for
// results only.
// A message may quote untrusted text. It is always one line of bounded length, without characters
// that a terminal interprets.
#ifndef COBRA_BASE_LOG_H_
#define COBRA_BASE_LOG_H_

#include <string>
#include <variant>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace cobra {

enum class LogLevel { kInfo, kWarning, kError };

// The message as it is logged: control characters, directional marks and bytes that are not UTF-8
// as "\n" or "\x1b", a backslash as "\\"; truncated after 4,000 bytes.
std::string LogText(absl::string_view message);

// For programs that read the log: rpc=Predict, duration_ms=1200.
struct LogField {
  absl::string_view name;
  std::variant<absl::string_view, double> value;
};

void SetMinLogLevel(LogLevel level);
// kJson: each line is an object, {"time": ..., "level": "info", "message": ..., NAME: VALUE ...}.
enum class LogFormat { kText, kJson };
void SetLogFormat(LogFormat format);
void Log(LogLevel level, absl::string_view message, absl::Span<const LogField> fields = {});
inline void LogInfo(absl::string_view message) { Log(LogLevel::kInfo, message); }
inline void LogWarning(absl::string_view message) { Log(LogLevel::kWarning, message); }
inline void LogError(absl::string_view message) { Log(LogLevel::kError, message); }

}  // namespace cobra

#endif  // COBRA_BASE_LOG_H_
