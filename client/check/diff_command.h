// `cobra-client diff`: two versions of one model, as git has them or as two files.
#ifndef COBRA_CLIENT_CHECK_DIFF_COMMAND_H_
#define COBRA_CLIENT_CHECK_DIFF_COMMAND_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/check/checking.h"
#include "client/input/model_arguments.h"
#include "client/request/common_flags.h"
#include "client/request/request.h"

namespace cobra::client {

struct DiffFlags {
  std::vector<std::string> versions;  // [OLD [NEW]] MODEL, as for git diff; or two files or REV:PATH
  ModelArguments model;               // without its path
  std::string old_entry;              // empty: that of the model
  std::vector<std::string> targets;
  AskFlags ask;
  double budget_ms = 0;
  std::string max_increase = "5%", noise;  // empty: the default
  double min_confidence = -1;
  ReportFlags report;
};

// One side of a diff.
struct DiffSide {
  std::string revision;     // empty: the working tree
  std::string path;         // as the user typed it
  bool from_root = false;   // REV:PATH: relative to the repository's root
  bool is_explicit = true;  // a file, or REV:PATH: without it there is nothing to compare
};
struct DiffSides {
  DiffSide before, after;
};
// What the arguments mean. `exists` says whether there is such a file or folder.
absl::StatusOr<DiffSides> ParseDiffSides(const std::vector<std::string>& arguments,
                                         const std::function<bool(const std::string&)>& exists);

absl::StatusOr<int> RunDiff(const CommonFlags& common, const DiffFlags& flags);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_CHECK_DIFF_COMMAND_H_
