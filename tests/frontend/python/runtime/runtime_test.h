// Runs small programs for the tests of this folder.
#ifndef COBRA_TESTS_FRONTEND_PYTHON_RUNTIME_RUNTIME_TEST_H_
#define COBRA_TESTS_FRONTEND_PYTHON_RUNTIME_RUNTIME_TEST_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "frontend/python/runtime/interpreter/interpreter.h"
#include "frontend/python/runtime/interpreter/native.h"

namespace cobra::python {

struct Outcome {
  std::string output;
  absl::Status status;
  Diagnostic diagnostic;  // of a failure
  std::string kind() const { return status.ok() ? "ok" : std::string(DiagnosticKindName(diagnostic.kind)); }
};

inline NativeRegistry* Natives() {
  static auto* const natives = [] {
    auto* r = new NativeRegistry();
    AddStandardLibrary(r);
    return r;
  }();
  return natives;
}

struct Program {
  std::map<std::string, std::string> bundle;
  std::vector<std::map<std::string, std::string>> libraries;  // each one a root
  std::string file = "main.py";
  Limits limits;
};

inline Outcome RunPython(const Program& program) {
  InterpreterOptions options;
  options.bundle = program.bundle;
  options.limits = program.limits;
  options.natives = Natives();
  for (size_t i = 0; i < program.libraries.size(); ++i) {
    options.library_roots.push_back(MemorySource(program.libraries[i], "/lib" + std::to_string(i)));
  }
  Outcome outcome;
  auto interp = Interpreter::Create(std::move(options));
  outcome.status = (*interp)->Run([&](Interpreter& interp) -> Result<void> {
    COBRA_TRY(interp.LoadFile(program.file));
    return {};
  });
  outcome.output = (*interp)->captured_output();
  if (auto d = DiagnosticFromStatus(outcome.status)) outcome.diagnostic = *d;
  return outcome;
}

inline Outcome RunSource(std::string source, Limits limits = {}) {
  Program program;
  program.bundle["main.py"] = std::move(source);
  program.limits = limits;
  return RunPython(program);
}

}  // namespace cobra::python

#endif  // COBRA_TESTS_FRONTEND_PYTHON_RUNTIME_RUNTIME_TEST_H_
