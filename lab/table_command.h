// `cobra-train table`.
#ifndef COBRA_LAB_TABLE_COMMAND_H_
#define COBRA_LAB_TABLE_COMMAND_H_

#include "train/commands.h"

namespace cobra::lab {

train::Command AddTable(CLI::App* app);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLE_COMMAND_H_
