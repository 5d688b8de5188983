// `cobra-train fit|predict|choose|adapt` for search spaces: tables of anybody's (DESIGN.md, "Rows for cobra-train";
// docs/spaces.md).
#ifndef COBRA_TRAIN_SPACE_COMMANDS_H_
#define COBRA_TRAIN_SPACE_COMMANDS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/command_line.h"

namespace cobra::train {

// `cobra-train fit --space SPACE --rows CSV --out DIR`. NotFound lists the spaces.
absl::Status FitSpace(const std::string& space, const std::string& rows, const std::string& out);

struct SpaceCommand {
  CLI::App* app;
  std::function<absl::Status()> run;
};
// Adds `predict`, `choose` and `adapt`.
std::vector<SpaceCommand> AddSpaceCommands(CLI::App* app);

}  // namespace cobra::train

#endif  // COBRA_TRAIN_SPACE_COMMANDS_H_
