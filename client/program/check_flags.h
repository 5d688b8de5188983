// The flags of `cobra-client diff` and `check` that no other command has.
#ifndef COBRA_CLIENT_PROGRAM_CHECK_FLAGS_H_
#define COBRA_CLIENT_PROGRAM_CHECK_FLAGS_H_

#include "base/command_line.h"
#include "client/check/check_command.h"
#include "client/check/diff_command.h"

namespace cobra::client {

void AddDiffFlags(CLI::App* command, DiffFlags* flags);
void AddCheckFlags(CLI::App* command, CheckFlags* flags);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_PROGRAM_CHECK_FLAGS_H_
