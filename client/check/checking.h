// One model of a check: predicted in its new version, in its old one if it has one, and compared.
#ifndef COBRA_CLIENT_CHECK_CHECKING_H_
#define COBRA_CLIENT_CHECK_CHECKING_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/compare/check_report.h"
#include "client/input/model_arguments.h"
#include "client/request/common_flags.h"
#include "client/request/request.h"

namespace cobra::client {

// A version of the user's files.
struct FileVersion {
  std::string label;      // "origin/main (3f2a1b0)", "the working tree"
  std::string root;       // the folder to which reports are relative; empty: there is no repository
  bool exported = false;  // a commit, in a folder that the user does not know
};

struct CheckQuestion {
  std::string name;
  std::string file;  // where the model is named, relative to the root
  int line = 0;
  ModelArguments after;
  FileVersion after_version;
  std::optional<ModelArguments> before;
  FileVersion before_version;
  bool is_new = false;  // without `before`: whether it had none, or nobody asked for it
  std::vector<std::string> targets;
  AskFlags ask;
  Thresholds thresholds;
  Budgets budgets_ms;
  std::vector<std::string> notes;
  // Whether an old version that cannot be read makes the new one new, instead of being an error.
  bool tolerate_before = false;
};

// Whom a check without targets is for: this-machine. A usage Diagnostic where it is not calibrated:
// all trained targets would be too many to compare.
absl::StatusOr<std::vector<std::string>> TargetsOfCheck(const CommonFlags& common);

// A model that cannot be read is a result of the check. A status that is not OK: nobody answered.
absl::StatusOr<CheckedModel> AskAndCompare(const CommonFlags& common, const CheckQuestion& question);

// A model's arguments with its paths, which are below the folder `base` of the repository (relative
// to its root), turned to where an exported commit has them. What is outside the repository stays.
// `path`: that of the model at that commit, relative to the root; empty: as written.
ModelArguments InExported(const ModelArguments& model, const std::string& users_root, const std::string& users_base,
                          const std::string& exported, const std::string& path);

// Which files of a commit models need: all Python files, and what lies beside a file of another
// form.
std::function<bool(absl::string_view)> WantedFiles(const std::vector<std::string>& models);

// Where and in which format reports go: --format, and --report FORMAT=FILE.
struct ReportFlags {
  std::string format = "table";
  std::vector<std::string> reports;
  int top = 10;
};
// Before anything is asked: a usage Diagnostic for what is not FORMAT=FILE, for two reports in one
// file, and for a file that must not be replaced (answer/written_file.h); `read` are those that the
// command reads.
absl::Status CheckReportFlags(const ReportFlags& flags, const std::vector<std::string>& read,
                              const ConnectionFiles& connection);

// Writes the reports, prints the one of --format and, to standard error, the problems. Returns the
// exit code.
absl::StatusOr<int> PrintReport(const CheckReport& report, const ReportFlags& flags);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_CHECK_CHECKING_H_
