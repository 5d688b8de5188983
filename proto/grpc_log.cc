#include "proto/grpc_log.h"

#include <grpc/support/log.h>

#include <cstdlib>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/throttled_log.h"

namespace cobra::proto {
namespace {

bool WantsEveryLine() { return std::getenv("GRPC_VERBOSITY") != nullptr; }

// Whether these are the last words of a process, which are logged.
bool LogsLastWords(const gpr_log_func_args& line) {
  if (!absl::StrContains(line.message, "assertion failed")) return false;
  LogError(absl::StrCat("gRPC: ", line.message));
  return true;
}

}  // namespace

void ThrottleGrpcLog() {
  if (WantsEveryLine()) return;
  gpr_set_log_function([](gpr_log_func_args* line) {
    static auto* const log = new ThrottledLog;
    if (!LogsLastWords(*line)) log->Warning(absl::StrCat("gRPC: ", line->message));
  });
}

void DropGrpcLog() {
  if (WantsEveryLine()) return;
  gpr_set_log_function([](gpr_log_func_args* line) { LogsLastWords(*line); });
}

}  // namespace cobra::proto
