// Lines on standard error: "2026-11-20T08:00:00.123Z I server.cc: message". Standard output is for results only.
#ifndef COBRA_BASE_LOG_H_
#define COBRA_BASE_LOG_H_

#include "absl/strings/string_view.h"

namespace cobra {

enum class LogLevel { kInfo, kWarning, kError };

void SetMinLogLevel(LogLevel level);
void Log(LogLevel level, absl::string_view message);
inline void LogInfo(absl::string_view message) { Log(LogLevel::kInfo, message); }
inline void LogWarning(absl::string_view message) { Log(LogLevel::kWarning, message); }
inline void LogError(absl::string_view message) { Log(LogLevel::kError, message); }

}  // namespace cobra

#endif  // COBRA_BASE_LOG_H_
