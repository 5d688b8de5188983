// python_ast_dump [--full|--time] [VERSION] < names: parses each file named on standard input as
// Python VERSION (3.11). Prints per file one line,
//   ok SHA256-OF-THE-TREE'S-TEXT NAME   or   error LINE NAME<tab>MESSAGE,
// with --full the text itself; with --time how fast all of them together were read (files in
// memory, processor time, best of 5).
#include <cstdio>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include "base/bytes/hash.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "frontend/python/syntax/parse/parser.h"
#include "frontend/python/syntax/python_version.h"
#include "tests/frontend/python/syntax/ast_writer.h"

namespace {

int Time(const std::vector<std::string>& names) {
  std::vector<std::string> sources;
  size_t bytes = 0;
  for (const std::string& name : names) {
    absl::StatusOr<std::string> source = cobra::ReadFile(name);
    if (!source.ok()) continue;
    bytes += source->size();
    sources.push_back(*std::move(source));
  }
  double best_seconds = 1e9;
  int64_t nodes = 0, memory_bytes = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    nodes = memory_bytes = 0;
    const std::clock_t start = std::clock();
    for (const std::string& source : sources) {
      const auto ast = cobra::python::ast::ParseModule(source, "timed.py");
      if (!ast.ok()) continue;
      nodes += (*ast)->node_count();
      memory_bytes += (*ast)->memory_bytes();
    }
    best_seconds = std::min(best_seconds, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  std::printf("%zu files, %.2f MB, %lld nodes, %.1f bytes of tree per byte, %.3f s, %.1f MB/s\n", sources.size(),
              static_cast<double>(bytes) / 1e6, static_cast<long long>(nodes),
              static_cast<double>(memory_bytes) / static_cast<double>(bytes), best_seconds,
              static_cast<double>(bytes) / 1e6 / best_seconds);
  return 0;
}

void Dump(const std::string& name, bool full) {
  const absl::StatusOr<std::string> source = cobra::ReadFile(name);
  const auto ast = source.ok() ? cobra::python::ast::ParseModule(*source, name) : source.status();
  if (!ast.ok()) {
    const auto diagnostic = cobra::DiagnosticFromStatus(ast.status());
    const std::string message = diagnostic ? diagnostic->message : "internal: " + std::string(ast.status().message());
    std::printf("error %d %s\t%s\n", diagnostic ? diagnostic->position.line : -1, name.c_str(), message.c_str());
    return;
  }
  const std::string text = cobra::python::ast::WriteAst(**ast, true, cobra::python::GetPythonVersion());
  if (full) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fputc('\n', stdout);
  } else {
    std::printf("ok %s %s\n", cobra::Sha256Hex(text).c_str(), name.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string mode, version = "3.11";
  for (int i = 1; i < argc; ++i) (argv[i][0] == '-' ? mode : version) = argv[i];
  const absl::StatusOr<int> minor = cobra::python::ReadPythonVersion(version);
  if (!minor.ok()) return 2;
  cobra::python::SetPythonVersion(*minor);
  std::vector<std::string> names;
  for (std::string line; std::getline(std::cin, line);) {
    if (mode == "--time") {
      names.push_back(line);
    } else {
      Dump(line, mode == "--full");
      std::fflush(stdout);
    }
  }
  return mode == "--time" ? Time(names) : 0;
}
