#include "server/transport/grpc_log.h"

#include <grpc/support/log.h>

#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/throttled_log.h"

namespace cobra::server {

void ThrottleGrpcLog() {
  if (std::getenv("GRPC_VERBOSITY") != nullptr) return;
  gpr_set_log_function([](gpr_log_func_args* line) {
    static auto* const log = new ThrottledLog;
    const std::string message = absl::StrCat("gRPC: ", line->message);
    if (absl::StrContains(message, "assertion failed")) {  // the last words of a process
      LogError(message);
    } else {
      log->Warning(message);
    }
  });
}

}  // namespace cobra::server
