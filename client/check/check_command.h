// `cobra-client check`: all models of a suite (suite.h) against their budgets, and against an
// earlier version.
#ifndef COBRA_CLIENT_CHECK_CHECK_COMMAND_H_
#define COBRA_CLIENT_CHECK_CHECK_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/check/checking.h"
#include "client/request/common_flags.h"
#include "client/request/request.h"

namespace cobra::client {

struct CheckFlags {
  std::string suite;                 // empty: cobra.toml here or in a folder above
  std::string against;               // a revision; empty: budgets only
  std::vector<std::string> only;     // models; empty: all
  std::vector<std::string> targets;  // instead of those of the suite
  AskFlags ask;
  ReportFlags report;
};

absl::StatusOr<int> RunCheck(const CommonFlags& common, const CheckFlags& flags);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_CHECK_CHECK_COMMAND_H_
