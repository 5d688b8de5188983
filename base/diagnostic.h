// What is wrong with the *user's* input (source, graph, arguments), kept apart from what is wrong with us
// (a plain absl::Status). A Diagnostic travels inside an absl::Status as a payload, so every function can
// go on returning absl::StatusOr<T>.
#ifndef COBRA_BASE_DIAGNOSTIC_H_
#define COBRA_BASE_DIAGNOSTIC_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cobra {

// One-based line and column; line 0 means "the file as a whole".
struct SourcePosition {
  std::string file;
  int line = 0;
  int column = 0;
};

// One entry of the call chain, outermost first, like CPython's traceback.
struct DiagnosticFrame {
  SourcePosition position;
  std::string function;
  std::string source_line;  // the text of the line, without its newline; empty if unknown
};

struct Diagnostic {
  // The kind decides the exit code of cobra-client (DESIGN.md, "Names that stay").
  enum class Kind {
    kUsage,          // exit 2: an argument, unknown target included
    kUnsupported,    // exit 4: valid input that we cannot read yet
    kDataDependent,  // exit 4: control flow or a shape that depends on tensor values
    kSyntaxError,    // exit 6: CPython rejects it too
    kModelError,     // exit 6: PyTorch (or Python) raises too
    kLimit,          // exit 7: a limit was reached
  };
  Kind kind = Kind::kUnsupported;
  std::string message;  // starts with what the user wrote; one line
  std::string hint;     // what to do; may be empty
  SourcePosition position;
  std::string source_line;
  std::vector<DiagnosticFrame> frames;  // empty for syntax errors
};

// The name used in JSON and over the wire: "usage", "unsupported", "data_dependent", "syntax_error", "model_error", "limit".
absl::string_view DiagnosticKindName(Diagnostic::Kind kind);
std::optional<Diagnostic::Kind> DiagnosticKindFromName(absl::string_view name);
int DiagnosticExitCode(Diagnostic::Kind kind);

// InvalidArgument (usage, syntax_error, model_error), Unimplemented (unsupported), FailedPrecondition (data_dependent)
// or ResourceExhausted (limit), with the diagnostic as payload; the status message is RenderDiagnostic's first line.
absl::Status DiagnosticToStatus(const Diagnostic& diagnostic);
// The payload of `status`, if it carries one.
std::optional<Diagnostic> DiagnosticFromStatus(const absl::Status& status);

// For people:
//   model.py:12:9: error: conv2d got 3 input channels, its weight wants 4
//       x = self.conv(x)
//           ^
//     in Net.forward (model.py:12)
//   hint: ...
std::string RenderDiagnostic(const Diagnostic& diagnostic);

}  // namespace cobra

#endif  // COBRA_BASE_DIAGNOSTIC_H_
