// cobra-bench NAME [--json]: runs one comparison and prints it, as a table or as one JSON object.
#include <cstdio>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "base/command_line.h"
#include "tests/bench/bench.h"

namespace cobra::bench {
namespace {

void PrintTable(const Json& value, const std::string& indent) {
  for (const auto& [key, item] : value.items()) {
    if (item.is_object()) {
      std::cout << indent << key << "\n";
      PrintTable(item, indent + "  ");
    } else {
      std::printf("%s%-24s %s\n", indent.c_str(), key.c_str(),
                  item.is_number_float() ? absl::StrCat(item.get<double>()).c_str() : item.dump().c_str());
    }
  }
}

int Main(int argc, char** argv) {
  bool json = false, ours = false;
  std::vector<std::string> once;
  CLI::App app("Compares performance with other programs, both in one run. Leave the machine idle.", "cobra-bench");
  app.require_subcommand(1);
  app.footer("Exit codes: 0 success, 1 a program to compare with is missing or failed, 2 usage error.");
  CLI::App* reader = app.add_subcommand(
      "reader",
      "How fast source becomes a graph: parser in MB/s; torchvision models read in a running process and by a new one, "
      "compared with PyTorch (build, torch.fx.symbolic_trace, ShapeProp). Takes some minutes");
  reader->add_flag("--ours", ours, "Leave PyTorch out");
  reader->add_flag("--json", json, "One JSON object instead of a table");
  // For the benchmark itself, which starts it.
  reader->add_option("--once", once, "The new process: NAME [TIMES]")->expected(1, 2)->group("");
  const absl::StatusOr<bool> parsed = ParseCommandLine(&app, argc, argv);
  if (!parsed.ok()) {
    PrintError(app.get_name(), parsed.status());
    return kUsageExitCode;
  }
  if (!*parsed) return 0;

  std::vector<std::string> arguments;
  if (!once.empty()) arguments.push_back("--once");
  arguments.insert(arguments.end(), once.begin(), once.end());
  if (ours) arguments.push_back("--ours");
  const absl::StatusOr<Json> result = RunReader(arguments);
  if (!result.ok()) {
    PrintError(app.get_name(), result.status());
    return 1;
  }
  if (result->is_null()) return 0;
  if (json) {
    std::cout << result->dump(2) << "\n";
  } else {
    PrintTable(*result, "");
  }
  return 0;
}

}  // namespace
}  // namespace cobra::bench

int main(int argc, char** argv) { return cobra::bench::Main(argc, argv); }
