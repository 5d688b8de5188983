// python_run FILE [--library DIR]... [--steps N]: runs a Python file in the interpreter, prints what it printed, and at the end,
// if it failed, one line "!!! ExceptionType" (or "!!! <kind>: message" for a failure of the interpreter itself).
// --explain prints the whole diagnostic on standard error.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/diagnostic.h"
#include "base/file.h"
#include "frontend/python/runtime/interpreter.h"
#include "frontend/python/runtime/native.h"

using namespace cobra;          // NOLINT
using namespace cobra::python;  // NOLINT

int main(int argc, char** argv) {
  InterpreterOptions options;
  std::string file;
  bool explain = false;
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    if (arg == "--library" && i + 1 < argc) {
      options.library_roots.push_back(DirectorySource(argv[++i]));
    } else if (arg == "--steps" && i + 1 < argc) {
      options.limits.steps = std::atoll(argv[++i]);
    } else if (arg == "--explain") {
      explain = true;
    } else {
      file = arg;
    }
  }
  absl::StatusOr<std::string> text = ReadFile(file);
  if (!text.ok()) {
    std::fprintf(stderr, "%s\n", std::string(text.status().message()).c_str());
    return 2;
  }
  options.bundle["main.py"] = *text;
  NativeRegistry natives;
  AddStandardLibrary(&natives);
  options.natives = &natives;
  auto interp = Interpreter::Create(std::move(options));
  if (!interp.ok()) return 2;
  absl::Status status = (*interp)->Run([&](Interpreter& interp) -> Result<void> {
    COBRA_TRY(interp.LoadFile("main.py"));
    return {};
  });
  std::fwrite((*interp)->captured_output().data(), 1, (*interp)->captured_output().size(), stdout);
  if (status.ok()) return 0;
  auto diagnostic = DiagnosticFromStatus(status);
  if (!diagnostic.has_value()) {
    std::printf("!!! %s\n", std::string(status.message()).c_str());
    return 1;
  }
  if (explain) std::fprintf(stderr, "%s", RenderDiagnostic(*diagnostic).c_str());
  if (diagnostic->kind == Diagnostic::Kind::kModelError) {
    std::printf("!!! %s\n", diagnostic->message.substr(0, diagnostic->message.find(':')).c_str());
  } else if (diagnostic->kind == Diagnostic::Kind::kSyntaxError) {
    std::printf("!!! SyntaxError\n");
  } else {
    std::printf("!!! <%s>: %s\n", std::string(DiagnosticKindName(diagnostic->kind)).c_str(), diagnostic->message.c_str());
  }
  return 1;
}
