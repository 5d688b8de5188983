// Exit codes of cobra-client, and errors for people and for programs. Other people's scripts rely on the numbers.
#ifndef COBRA_CLIENT_EXIT_CODE_H_
#define COBRA_CLIENT_EXIT_CODE_H_

#include <string>

#include "absl/status/status.h"

namespace cobra::client {

enum ExitCode : int {
  kExitOk = 0,
  kExitOverBudget = 1,   // or slower than the baseline allows
  kExitUsage = 2,        // unknown target too
  kExitUnavailable = 3,  // no server, or a broken one
  kExitCannotRead = 4,   // unsupported construct or operator, data-dependent
  kExitLowConfidence = 5,
  kExitModelWrong = 6,  // syntax error, or an exception that PyTorch raises too
  kExitLimit = 7,
};

// That of the status' Diagnostic, else by the status code.
int ExitCodeOf(const absl::Status& status);
// The rendered Diagnostic, or the status message; with the program's name in front where no place in a file stands
// there, and what to do where no server answers.
std::string ErrorText(const absl::Status& status);
// {"error":{"kind","message","hint","file","line","column","end_column","module","missing_module","source_line",
// "frames":[...],"status","exit_code"}}
std::string ErrorJson(const absl::Status& status);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_EXIT_CODE_H_
