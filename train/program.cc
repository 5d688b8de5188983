#include "train/program.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/process/blas_core_type.h"
#include "base/process/command_line.h"

namespace cobra::train {
namespace {

int ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return 0;
  PrintError("cobra-train", status);
  return status.code() == absl::StatusCode::kInvalidArgument || status.code() == absl::StatusCode::kNotFound
             ? kUsageExitCode
             : 1;
}

}  // namespace

int RunCobraTrain(int argc, char** argv, Command (*add_table)(CLI::App* app)) {
  if (const absl::Status status = RestartWithBlasCoreType(argv); !status.ok()) return ExitCodeOf(status);
  CLI::App app{"Trains COBRA's networks on measurements and reports their errors on held-out rows.", "cobra-train"};
  app.require_subcommand(1);
  std::vector<Command> commands = {AddFit(&app), AddEvaluate(&app), AddRefit(&app), AddSelect(&app), add_table(&app)};
  for (Command& command : AddSpaceCommands(&app)) commands.push_back(command);
  commands.push_back(AddSplit(&app));
  app.footer(
      "Paths are relative to the current directory; the defaults assume the repository's root.\n"
      "Exit codes: 0 success, 1 failure, or `refit` published nothing (see gate.json), 2 usage error. cobra-train "
      "COMMAND --help lists the flags of a command.");
  const absl::StatusOr<bool> parsed = ParseCommandLine(&app, argc, argv);
  if (!parsed.ok()) return ExitCodeOf(parsed.status());
  if (!*parsed) return 0;
  for (const Command& command : commands) {
    if (command.app->parsed()) return ExitCodeOf(command.run());
  }
  return 0;
}

}  // namespace cobra::train
