// An error in the *user's* input (source, graph, arguments), as opposed to an internal error (a
// plain absl::Status). A Diagnostic is carried inside an absl::Status as a payload, so every
// function can return absl::StatusOr<T>.
#ifndef COBRA_BASE_DIAGNOSTIC_H_
#define COBRA_BASE_DIAGNOSTIC_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cobra {

// One-based line and column, in characters; line 0 means "the file as a whole".
struct SourcePosition {
  std::string file;
  int line = 0;
  int column = 0;
  int end_column = 0;  // one past the last character of the expression on this line; 0: unknown
};

// One entry of the call chain, outermost first, like CPython's traceback.
struct DiagnosticFrame {
  SourcePosition position;
  std::string function;
  std::string source_line;  // the text of the line, without its newline; empty if unknown
};

struct Diagnostic {
  // The kind decides the exit code of cobra-client.
  enum class Kind {
    kUsage,          // exit 2: a wrong argument, such as an unknown target
    kUnsupported,    // exit 4: valid input that COBRA cannot read yet
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
  std::string module_path;              // of the nn.Module whose forward was running: "layer1.0.conv1"; may be empty
  std::string example_inputs;           // what the file proposes, as flags: " --input 1x3x224x224"; may be empty
  std::string missing_module;           // the import that was not found: "timm.layers"; "." of a relative import
};

// The name used in JSON and over the wire: "usage", "unsupported", "data_dependent",
// "syntax_error", "model_error", "limit".
absl::string_view DiagnosticKindName(Diagnostic::Kind kind);
std::optional<Diagnostic::Kind> DiagnosticKindFromName(absl::string_view name);
int DiagnosticExitCode(Diagnostic::Kind kind);

// InvalidArgument (usage, syntax_error, model_error), Unimplemented (unsupported),
// FailedPrecondition (data_dependent) or ResourceExhausted (limit), with the diagnostic as payload;
// the status message is RenderDiagnostic's first line.
absl::Status DiagnosticToStatus(const Diagnostic& diagnostic);
// The payload of `status`, if it carries one.
std::optional<Diagnostic> DiagnosticFromStatus(const absl::Status& status);

// For people, in the order of CPython's tracebacks: the innermost call last, then the error and the
// hint.
//   Traceback (most recent call last):
//     File "model.py", line 20, in Net.forward
//       x = self.block(x)
//           ^^^^^^^^^^^^^
//     File "model.py", line 12, in Block.forward
//       return self.conv(x)
//              ^^^^^^^^^^^^
//   model.py:12:16: error: RuntimeError: expected input[1, 3, 8, 8] to have 4 channels
//   in module block.conv
//   hint: ...
// Control characters in the user's text are shown as '?', so that a file cannot send escape
// sequences to the terminal.
std::string RenderDiagnostic(const Diagnostic& diagnostic);

}  // namespace cobra

#endif  // COBRA_BASE_DIAGNOSTIC_H_
