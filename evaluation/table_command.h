// `cobra-train table`.
#ifndef COBRA_EVALUATION_TABLE_COMMAND_H_
#define COBRA_EVALUATION_TABLE_COMMAND_H_

#include "train/commands.h"

namespace cobra::evaluation {

train::Command AddTable(CLI::App* app);

}  // namespace cobra::evaluation

#endif  // COBRA_EVALUATION_TABLE_COMMAND_H_
