// python_run FILE... [--library DIR]... [--bundle NAME=FILE]... [--steps N] [--explain] [--batch]:
// runs each Python file in an interpreter of its own and prints what it printed, then, if it
// failed, one line "!!! ExceptionType" (or "!!! <kind>: message" for a failure of the interpreter
// itself).
// --bundle adds a file beside the program, under that name: it comes before everything else that is
// imported.
// --explain prints the whole diagnostic on standard error; --batch ends each file's output with a
// record separator.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/file/file.h"
#include "frontend/python/runtime/interpreter/interpreter.h"
#include "frontend/python/runtime/interpreter/native.h"

using namespace cobra;          // NOLINT
using namespace cobra::python;  // NOLINT

namespace {

int RunFile(const std::string& file, InterpreterOptions options, bool explain) {
  absl::StatusOr<std::string> text = ReadFile(file);
  if (!text.ok()) {
    std::fprintf(stderr, "%s\n", std::string(text.status().message()).c_str());
    return 2;
  }
  options.bundle["main.py"] = *text;
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
  if (explain) std::fprintf(stderr, "%s\n", RenderDiagnostic(*diagnostic).c_str());
  if (diagnostic->kind == Diagnostic::Kind::kModelError) {
    std::printf("!!! %s\n", diagnostic->message.substr(0, diagnostic->message.find(':')).c_str());
  } else if (diagnostic->kind == Diagnostic::Kind::kSyntaxError) {
    std::printf("!!! SyntaxError\n");
  } else {
    std::printf("!!! <%s>: %s\n", std::string(DiagnosticKindName(diagnostic->kind)).c_str(),
                diagnostic->message.c_str());
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  InterpreterOptions options;
  NativeRegistry natives;
  AddStandardLibrary(&natives);
  options.natives = &natives;
  std::vector<std::string> files;
  bool explain = false, batch = false;
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    if (arg == "--library" && i + 1 < argc) {
      options.library_roots.push_back(DirectorySource(argv[++i]));
    } else if (arg == "--bundle" && i + 1 < argc) {
      std::string entry = argv[++i];
      size_t equals = entry.find('=');
      absl::StatusOr<std::string> text = ReadFile(entry.substr(equals + 1));
      if (equals == std::string::npos || !text.ok()) {
        std::fprintf(stderr, "--bundle %s: no such file\n", entry.c_str());
        return 2;
      }
      options.bundle[entry.substr(0, equals)] = *std::move(text);
    } else if (arg == "--steps" && i + 1 < argc) {
      options.limits.steps = std::atoll(argv[++i]);
    } else if (arg == "--explain") {
      explain = true;
    } else if (arg == "--batch") {
      batch = true;
    } else {
      files.push_back(arg);
    }
  }
  int worst = 0;
  for (const std::string& file : files) {
    worst = std::max(worst, RunFile(file, options, explain));
    if (batch) std::fputs("\x1e\n", stdout);
    std::fflush(stdout);
  }
  return batch ? 0 : worst;
}
