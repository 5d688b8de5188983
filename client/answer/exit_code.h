// Exit codes of cobra-client, and errors as text and as JSON. Users' scripts rely on the numbers.
#ifndef COBRA_CLIENT_ANSWER_EXIT_CODE_H_
#define COBRA_CLIENT_ANSWER_EXIT_CODE_H_

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

// The exit code of the status' Diagnostic, or else that of the status code.
int ExitCodeOf(const absl::Status& status);
// The rendered Diagnostic, or the status message. It begins with the program's name unless it
// begins with a position in a file. It contains a hint if no server answers.
std::string ErrorText(const absl::Status& status);
// A status on one line, with the hint of a Diagnostic.
std::string WhyText(const absl::Status& why);

// {"error":{"kind","message","hint","file","line","column","end_column","module","missing_module",
// "source_line","frames":[...],"status","exit_code"}}
std::string ErrorJson(const absl::Status& status);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ANSWER_EXIT_CODE_H_
