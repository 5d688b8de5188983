// A Diagnostic without a position in a file, as a status. Most errors in a request have none.
#ifndef COBRA_BASE_USER_ERROR_H_
#define COBRA_BASE_USER_ERROR_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/diagnostic.h"

namespace cobra {

inline absl::Status UserError(Diagnostic::Kind kind, std::string message, std::string hint = "") {
  Diagnostic diagnostic;
  diagnostic.kind = kind;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  return DiagnosticToStatus(diagnostic);
}

// `message` begins with what the user wrote.
inline absl::Status UsageError(std::string message, std::string hint = "") {
  return UserError(Diagnostic::Kind::kUsage, std::move(message), std::move(hint));
}

}  // namespace cobra

#endif  // COBRA_BASE_USER_ERROR_H_
