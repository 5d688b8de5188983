// cobra-train. Its command `table` is passed in, so that train/ includes nothing of lab/. It comes
// from lab/, or from without_lab.h in a build without lab/.
#ifndef COBRA_TRAIN_PROGRAM_H_
#define COBRA_TRAIN_PROGRAM_H_

#include "train/commands.h"

namespace cobra::train {

// Parses the command line, runs the command, prints errors. Returns the exit code.
int RunCobraTrain(int argc, char** argv, Command (*add_table)(CLI::App* app));

}  // namespace cobra::train

#endif  // COBRA_TRAIN_PROGRAM_H_
