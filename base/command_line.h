// What the command lines of the programs have in common: --version, mistakes told the same way, the exit code of a
// mistake.
#ifndef COBRA_BASE_COMMAND_LINE_H_
#define COBRA_BASE_COMMAND_LINE_H_

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra {

// Of every program, where the command line or a file that it names is wrong. What else a program returns stands below
// its
// --help.
constexpr int kUsageExitCode = 2;

// Adds --version and parses. True: go on; false: --help or --version was asked for and is printed, exit with 0. Else a
// Diagnostic of kind kUsage that begins with what the user wrote and names the nearest command or flag there is.
absl::StatusOr<bool> ParseCommandLine(CLI::App* app, int argc, const char* const* argv);

// Of a number: CLI::PositiveNumber says "not in range 0.000000 to 1797693134862315708...".
CLI::Validator AboveZero();

// "PROGRAM: error: ..." and the hint, or a rendered Diagnostic with its place in front, to standard error.
void PrintError(absl::string_view program, const absl::Status& status);

}  // namespace cobra

#endif  // COBRA_BASE_COMMAND_LINE_H_
