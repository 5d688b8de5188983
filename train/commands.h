// The commands of cobra-train. Each function adds one command with its flags to the command line,
// and returns the function that runs it.
#ifndef COBRA_TRAIN_COMMANDS_H_
#define COBRA_TRAIN_COMMANDS_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "base/process/command_line.h"

namespace cobra::train {

struct Command {
  CLI::App* app;
  std::function<absl::Status()> run;  // to be called once the command line has been parsed
};

Command AddFit(CLI::App* app);       // a model version from measurements, a model of a search space from a table
Command AddEvaluate(CLI::App* app);  // errors of a version on held-out rows
Command AddRefit(CLI::App* app);     // a version is trained on new measurements too, and published if it is better
Command AddSelect(CLI::App* app);    // what to measure next
Command AddSplit(CLI::App* app);     // the test layers of measurements, as a file
std::vector<Command> AddSpaceCommands(CLI::App* app);  // `predict`, `adapt`, `choose` with a model of a search space

}  // namespace cobra::train

#endif  // COBRA_TRAIN_COMMANDS_H_
