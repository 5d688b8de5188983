// `cobra-train table` in a build without lab/ (-DCOBRA_LAB=OFF).
#ifndef COBRA_TRAIN_WITHOUT_LAB_H_
#define COBRA_TRAIN_WITHOUT_LAB_H_

#include "train/commands.h"

namespace cobra::train {

// Accepts any flags. Running it fails with InvalidArgument, which names the command that builds the
// tables.
Command AddUnavailableTable(CLI::App* app);

}  // namespace cobra::train

#endif  // COBRA_TRAIN_WITHOUT_LAB_H_
