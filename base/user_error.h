// A Diagnostic as a status. Most errors in a request have no position in a file.
#ifndef COBRA_BASE_USER_ERROR_H_
#define COBRA_BASE_USER_ERROR_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/diagnostic.h"

namespace cobra {

inline absl::Status UserError(Diagnostic::Kind kind, std::string message, std::string hint = "",
                              SourcePosition position = {}) {
  Diagnostic diagnostic;
  diagnostic.kind = kind;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  diagnostic.position = std::move(position);
  return DiagnosticToStatus(diagnostic);
}

// `message` begins with what the user wrote.
inline absl::Status UsageError(std::string message, std::string hint = "") {
  return UserError(Diagnostic::Kind::kUsage, std::move(message), std::move(hint));
}

}  // namespace cobra

#endif  // COBRA_BASE_USER_ERROR_H_
