// Completion of a program's commands and flags in a shell, from the same description as --help.
#ifndef COBRA_BASE_PROCESS_COMPLETION_H_
#define COBRA_BASE_PROCESS_COMPLETION_H_

#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/string_view.h"

namespace cobra {

// A script for `shell`, to be sourced, or stored where the shell looks for such scripts. Commands
// are completed by name, flags by name, their values where few are valid, everything else as files;
// --target by the names that `PROGRAM targets` lists, if a server runs. REQUIRES: shell is bash,
// zsh or fish.
std::string CompletionScript(const CLI::App& app, absl::string_view shell);

}  // namespace cobra

#endif  // COBRA_BASE_PROCESS_COMPLETION_H_
