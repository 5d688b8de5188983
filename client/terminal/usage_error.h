// What is wrong with the command line, or with a file that it names: exit code 2.
#ifndef COBRA_CLIENT_TERMINAL_USAGE_ERROR_H_
#define COBRA_CLIENT_TERMINAL_USAGE_ERROR_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/user_error.h"

namespace cobra::client {

// `message` begins with what the user wrote.
inline absl::Status UsageError(std::string message, std::string hint = "") {
  return UserError(Diagnostic::Kind::kUsage, std::move(message), std::move(hint));
}

}  // namespace cobra::client

#endif  // COBRA_CLIENT_TERMINAL_USAGE_ERROR_H_
