// cobra-client: how long will this network take on that device?
#include "client/program/program.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/diagnostic.h"
#include "base/process/command_line.h"
#include "base/text/shell_word.h"
#include "base/text/without_escapes.h"
#include "client/answer/exit_code.h"
#include "client/program/command_line_flags.h"
#include "client/program/next_step.h"
#include "client/terminal/output.h"
#include "client/terminal/progress.h"
#include "client/terminal/terminal.h"
#include "proto/grpc_log.h"

namespace cobra::client {
namespace {

int Report(bool json, ColorChoice color, const absl::Status& status) {
  if (json) PrintData(ErrorJson(status));
  const bool painted = StandardErrorStyle(color).color;
  Say(absl::StrCat(PaintedMessage(WithoutEscapes(ErrorText(status)), painted), "\n"), painted);
  return ExitCodeOf(status);
}

// The command line with the inputs that the model's file proposes.
void Propose(const absl::Status& status, int argc, char** argv) {
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  if (!diagnostic.has_value() || diagnostic->example_inputs.empty()) return;
  std::string line = "cobra-client";
  for (int i = 1; i < argc; ++i) absl::StrAppend(&line, " ", ShellWord(argv[i]));
  Say(absl::StrCat("try: ", line, diagnostic->example_inputs, "\n"));
}

// Whether a command line that cannot be parsed has --format json.
bool HasJsonFlag(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const absl::string_view argument = argv[i];
    if (argument == "--format=json") return true;
    if (argument == "--format" && i + 1 < argc && absl::string_view(argv[i + 1]) == "json") return true;
  }
  return false;
}

}  // namespace

int Main(int argc, char** argv) {
  proto::DropGrpcLog();
  Flags flags;
  CLI::App app("Predicts the latency of neural networks.", "cobra-client");
  app.require_subcommand(1);
  AddModelCommands(&app, &flags);
  AddServerCommands(&app, &flags);
  app.footer("cobra-client COMMAND --help lists the flags and exit codes of a command.");

  const absl::StatusOr<bool> parsed = ParseCommandLine(&app, argc, argv);
  if (!parsed.ok()) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    return Report(HasJsonFlag(argc, argv), flags.common.color, WithNextStep(parsed.status(), words));
  }
  if (!*parsed) return kExitOk;
  const absl::StatusOr<int> code = flags.run();
  const bool printed = FlushOutput();
  if (code.ok() && !printed) {
    Say("cobra-client: error: standard output cannot be written\n");
    return kExitUsage;
  }
  if (code.ok()) return *code;
  const int exit_code = Report(flags.common.json, flags.common.color, code.status());
  Propose(code.status(), argc, argv);
  return exit_code;
}

}  // namespace cobra::client
