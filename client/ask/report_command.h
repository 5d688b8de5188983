// `cobra-client report`: what is known of a model on some targets, as one HTML page.
#ifndef COBRA_CLIENT_ASK_REPORT_COMMAND_H_
#define COBRA_CLIENT_ASK_REPORT_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/input/model_arguments.h"
#include "client/request/common_flags.h"
#include "client/request/request.h"

namespace cobra::client {

struct PageFlags {
  ModelArguments model;
  std::vector<std::string> targets;  // empty: UsualTargets()
  AskFlags ask;
  std::string batches = "1..64";  // ParseBatches()
  bool no_sweep = false;
  std::string out = "report.html";  // "-": standard output
};

// With CommonFlags::json the page's document (report/document.h) is written instead of the page.
// The exit code.
absl::StatusOr<int> RunReport(const CommonFlags& common, PageFlags flags);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ASK_REPORT_COMMAND_H_
