// cobra.toml: the models of a repository, what is asked about them, and their budgets (docs/ci.md).
// `cobra-client check` checks them all.
//
//   [defaults]
//   targets = ["cpu-epyc-genoa-1t"]
//   max-increase = "5%"
//
//   [models.classifier]
//   model = "net.py"
//   entry = "Net()"
//   inputs = ["1x3x224x224"]
//   budget-ms = 50
//
// Each key may be in [defaults], too, except `model` and `arch`; that of the model counts.
#ifndef COBRA_CLIENT_CHECK_SUITE_H_
#define COBRA_CLIENT_CHECK_SUITE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/compare/check_report.h"
#include "client/input/model_arguments.h"

namespace cobra::client {

struct SuiteModel {
  std::string name;
  int line = 0;          // in the suite's file
  ModelArguments model;  // its paths as they are written there
  std::vector<std::string> targets;
  Thresholds thresholds;
  Budgets budgets_ms;
};

// In the order of the file. `name`: of the file, for messages. A usage Diagnostic with file and
// line for what is not TOML, for an unknown key (with the nearest one), and for a value that does
// not fit.
absl::StatusOr<std::vector<SuiteModel>> ParseSuite(absl::string_view text, const std::string& name);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_CHECK_SUITE_H_
