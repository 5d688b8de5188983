// What the command lines of the programs have in common: --version, the form of usage errors, and
// their exit code.
#ifndef COBRA_BASE_PROCESS_COMMAND_LINE_H_
#define COBRA_BASE_PROCESS_COMMAND_LINE_H_

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/connection_files.h"

namespace cobra {

// Exit code of every program if the command line, or a file that it names, is wrong. Other exit
// codes: see --help.
constexpr int kUsageExitCode = 2;

// Adds --version and --completion, and parses. True: continue. False: one of them or --help was
// given and is printed; exit with 0. An error is a Diagnostic of kind kUsage that begins with what
// the user wrote and names the nearest existing command or flag.
absl::StatusOr<bool> ParseCommandLine(CLI::App* app, int argc, const char* const* argv);

// Validates a number. CLI::PositiveNumber would report "not in range 0.000000 to
// 1797693134862315708...".
CLI::Validator AboveZero();
// For texts that must not be empty because a shell variable is unset.
CLI::Validator NotEmpty();

// --tls-ca, --tls-cert, --tls-key, --token-file of a program that calls a server.
void AddConnectionFlags(CLI::App* app, ConnectionFiles* files);

// Prints "PROGRAM: error: ..." and the hint, or a rendered Diagnostic that begins with its
// position, to standard error.
void PrintError(absl::string_view program, const absl::Status& status);

}  // namespace cobra

#endif  // COBRA_BASE_PROCESS_COMMAND_LINE_H_
