// The result of checking models against budgets and against an earlier version of them: what
// `predict`, `compare`, `diff` and `check` report, in whichever format (check_formats.h).
#ifndef COBRA_CLIENT_COMPARE_CHECK_REPORT_H_
#define COBRA_CLIENT_COMPARE_CHECK_REPORT_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/compare/compare.h"

namespace cobra::client {

// The smallest change of a latency that the predictor calls right 95 times in 100, as a fraction:
// of 131 pairs of networks with one small edit, measured in turns (scripts/test-long.sh edits).
inline constexpr double kSmallestDistinguishedChange = 0.02;

struct Thresholds {
  double max_increase = 0.05;                   // of the latency, as a fraction
  double noise = kSmallestDistinguishedChange;  // changes up to this are not a failure
  // Lower confidence is a problem. -1: not given; then it is one where something is checked and the
  // prediction extrapolates.
  double min_confidence = -1;
  // The increase from which on a change fails.
  double allowed() const { return max_increase > noise ? max_increase : noise; }
};

struct Problem {
  // kDoesNotFit: a budget is checked, on a device that has less memory than the network needs.
  enum class Kind { kSlower, kOverBudget, kDoesNotFit, kUnsure };
  Kind kind = Kind::kSlower;
  std::string text;  // one line, with the target's name
};

struct CheckedTarget {
  TargetChange change;  // without an old version: only `after`
  bool has_before = false;
  bool same_network = false;  // but for calls that return their argument, which the fingerprint leaves out
  bool same = false;          // and with the same latency
  double budget_ms = 0;       // 0: none
  Thresholds thresholds;
  std::vector<Problem> problems;

  const std::string& target() const { return change.after.target; }
  bool Has(Problem::Kind kind) const;
};

struct CheckedModel {
  enum class Status { kCompared, kNew, kGone, kPredicted, kUnreadable };
  std::string name;
  // Where the model is named, for problems of no source line: relative to the repository. Line 0:
  // the whole file.
  std::string file;
  int line = 0;
  Status status = Status::kPredicted;
  std::vector<std::string> notes;  // "renamed from net.py"
  std::vector<CheckedTarget> targets;
  std::string model_version;  // of the weights
  absl::Status error;         // kUnreadable
  std::string error_file;     // where it is, relative to the repository; empty: in no file of it
  int error_line = 0;
};

struct CheckReport {
  std::string before, after;  // "origin/main (3f2a1b0)", "the working tree"; before is empty if nothing is compared
  std::vector<CheckedModel> models;
};

// Budgets by target; "" is that of all others.
using Budgets = std::map<std::string, double>;

// A model that was compared, and one without an old version; with their problems.
CheckedModel ComparedModel(const Comparison& comparison, const Thresholds& thresholds, const Budgets& budgets_ms);
CheckedModel PredictedModel(const SavedPrediction& prediction, const Thresholds& thresholds, const Budgets& budgets_ms);

// What happened to a target, for people: "slower than the 5 % allowed", "same network", "new".
std::string VerdictText(const CheckedModel& model, const CheckedTarget& target);

// Lines for standard error: all problems, and why a model cannot be read; with names where there
// are several models.
std::vector<std::string> ProblemLines(const CheckReport& report);

// That of the first model that cannot be read; else 5 if a prediction is not trusted, else 1 if
// something is too slow.
int ReportExitCode(const CheckReport& report);

// The problems of a report, as lines on standard error, and its exit code.
int ReportProblems(const CheckReport& report);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_COMPARE_CHECK_REPORT_H_
