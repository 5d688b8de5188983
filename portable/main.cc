// cobra: client, server, reader and worker in one file that needs nothing of its machine but the
// kernel. The last component of argv[0] chooses, or the first argument.
#include <nss.h>

#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/file/data_path.h"
#include "base/process/command_line.h"
#include "base/process/subprocess.h"
#include "base/user_error.h"
#include "base/version.h"
#include "client/program/program.h"
#include "reader/program.h"
#include "server/program.h"
#include "worker/program.h"

namespace cobra {
namespace {

struct Program {
  const char* name;
  int (*main)(int argc, char** argv);
  const char* summary;
};

constexpr Program kPrograms[] = {
    {"cobra-client", client::Main, "predicts the latency of a network"},
    {"cobra-server", server::Main, "answers clients"},
    {"cobra-worker", worker::Main, "measures this machine"},
    {"cobra-reader", reader::Main, "started by the server"},
};

// Names of hosts and users are looked up by what is linked in. Modules that nsswitch.conf names are
// libraries of this machine's C library, which may be of another version, or not glibc.
void LookUpWithoutModules() {
  for (const auto& [database, sources] :
       {std::pair("hosts", "files dns"), std::pair("passwd", "files"), std::pair("group", "files"),
        std::pair("services", "files"), std::pair("protocols", "files"), std::pair("networks", "files")})
    ::__nss_configure_lookup(database, sources);
}

// "cobra-client" of ".../bin/cobra-client" and of "client".
const Program* Find(absl::string_view name) {
  name.remove_prefix(name.rfind('/') == absl::string_view::npos ? 0 : name.rfind('/') + 1);
  for (const Program& program : kPrograms) {
    if (name == program.name || absl::StrCat("cobra-", name) == program.name) return &program;
  }
  return nullptr;
}

std::string Help() {
  std::string text = "cobra: how long will a neural network take on a device?\n\nUsage: cobra PROGRAM [ARGUMENTS]\n";
  for (const Program& program : kPrograms) {
    absl::StrAppend(&text, "  ", absl::string_view(program.name).substr(sizeof("cobra-") - 1), "  ", program.summary,
                    "\n");
  }
  return absl::StrCat(text, "\nAsk: cobra client predict net.py --input 1x3x224x224\n",
                      "A link to this file with a program's name, cobra-client, is that program.\n");
}

int Main(int argc, char** argv) {
  LookUpWithoutModules();
  ProgramFile();  // found before anything changes the working directory
  std::vector<std::string> names;
  for (const Program& program : kPrograms) names.emplace_back(program.name);
  HoldPrograms(std::move(names));
  if (const Program* program = argc > 0 ? Find(argv[0]) : nullptr; program != nullptr) return program->main(argc, argv);
  const absl::string_view first = argc > 1 ? argv[1] : "--help";
  if (const Program* program = Find(first); program != nullptr) {
    argv[1] = const_cast<char*>(program->name);  // as if started by its name: it may start itself again
    return program->main(argc - 1, argv + 1);
  }
  if (first == "--version") {
    std::printf("cobra %s\n", std::string(Version()).c_str());
    return 0;
  }
  if (first == "--help" || first == "-h") {
    std::fputs(Help().c_str(), stdout);
    return argc > 1 ? 0 : kUsageExitCode;
  }
  PrintError("cobra", UsageError(absl::StrCat(first, ": is not a program of cobra"), "cobra --help lists them"));
  return kUsageExitCode;
}

}  // namespace
}  // namespace cobra

int main(int argc, char** argv) { return cobra::Main(argc, argv); }
