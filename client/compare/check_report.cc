#include "client/compare/check_report.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/answer/exit_code.h"
#include "client/terminal/progress.h"

namespace cobra::client {
namespace {

constexpr double kSameLatency = 1e-9;  // relative

double BudgetOf(const Budgets& budgets_ms, const std::string& target) {
  auto it = budgets_ms.find(target);
  if (it == budgets_ms.end()) it = budgets_ms.find("");
  return it == budgets_ms.end() ? 0 : it->second;
}

// Whether the answer to a check rests on a prediction that is not trusted, and on which.
std::optional<Problem> Unsure(const CheckedTarget& target) {
  const SavedTarget& before = target.change.before;
  const SavedTarget& after = target.change.after;
  const double minimum = target.thresholds.min_confidence;
  const double confidence = target.has_before ? std::min(before.confidence, after.confidence) : after.confidence;
  if (!(confidence >= minimum)) {  // nor if it is not a number
    return Problem{Problem::Kind::kUnsure, absl::StrFormat("confidence too low: %.2f on %s, required at least %g",
                                                           confidence, target.target(), minimum)};
  }
  if (minimum >= 0) return std::nullopt;
  const bool compared = target.has_before && !target.same;
  const bool extrapolating = after.extrapolating || (compared && before.extrapolating);
  if (!extrapolating || (!compared && target.budget_ms <= 0)) return std::nullopt;
  return Problem{Problem::Kind::kUnsure,
                 absl::StrFormat("too little is known to %s: the prediction for %s extrapolates, confidence %.2f; "
                                 "--min-confidence 0 accepts it",
                                 compared ? "compare" : "check the budget", target.target(), confidence)};
}

// Of its change if it has one, and of its budget. Sorted: first what is slow.
std::vector<Problem> ProblemsOf(const CheckedTarget& target) {
  std::vector<Problem> problems;
  const SavedTarget& after = target.change.after;
  if (target.has_before && target.change.change() > target.thresholds.allowed()) {
    problems.push_back(
        {Problem::Kind::kSlower, absl::StrFormat("%s: %.1f %% slower; at most %g %% is allowed", target.target(),
                                                 100 * target.change.change(), 100 * target.thresholds.allowed())});
  }
  if (target.budget_ms > 0 && !(after.latency_us <= target.budget_ms * 1000)) {
    problems.push_back(
        {Problem::Kind::kOverBudget, absl::StrFormat("over budget: %s takes %.3f ms, the budget is %g ms",
                                                     target.target(), after.latency_us / 1000, target.budget_ms)});
  }
  if (target.budget_ms > 0 && !after.lacks_memory.empty()) {
    problems.push_back({Problem::Kind::kDoesNotFit,
                        absl::StrCat("does not fit: ", target.target(), " ", after.lacks_memory, " of memory")});
  }
  if (std::optional<Problem> unsure = Unsure(target)) problems.push_back(*std::move(unsure));
  return problems;
}

CheckedTarget Checked(CheckedTarget target, const Thresholds& thresholds, const Budgets& budgets_ms) {
  target.thresholds = thresholds;
  target.budget_ms = BudgetOf(budgets_ms, target.target());
  target.problems = ProblemsOf(target);
  return target;
}

}  // namespace

bool CheckedTarget::Has(Problem::Kind kind) const {
  return std::any_of(problems.begin(), problems.end(), [kind](const Problem& p) { return p.kind == kind; });
}

CheckedModel ComparedModel(const Comparison& comparison, const Thresholds& thresholds, const Budgets& budgets_ms) {
  CheckedModel model;
  model.status = CheckedModel::Status::kCompared;
  model.model_version = comparison.after.model_version;
  if (comparison.before.model_version != comparison.after.model_version) {
    model.notes.push_back(absl::StrCat("two versions of the weights (", comparison.before.model_version, " and ",
                                       comparison.after.model_version,
                                       ") may explain part of the change; predict the old model again"));
  }
  for (const TargetChange& change : comparison.targets) {
    CheckedTarget target;
    target.change = change;
    target.has_before = true;
    target.same_network = comparison.same_network();
    target.same = target.same_network && std::abs(change.change()) < kSameLatency;
    model.targets.push_back(Checked(std::move(target), thresholds, budgets_ms));
  }
  return model;
}

CheckedModel PredictedModel(const SavedPrediction& prediction, const Thresholds& thresholds,
                            const Budgets& budgets_ms) {
  CheckedModel model;
  model.model_version = prediction.model_version;
  for (const SavedTarget& after : prediction.targets) {
    CheckedTarget target;
    target.change.after = after;
    model.targets.push_back(Checked(std::move(target), thresholds, budgets_ms));
  }
  return model;
}

std::string VerdictText(const CheckedModel& model, const CheckedTarget& target) {
  std::vector<std::string> parts;
  const Thresholds& thresholds = target.thresholds;
  if (model.status == CheckedModel::Status::kNew) parts.push_back("new");
  if (target.has_before) {
    const double change = target.change.change();
    if (target.same) {
      parts.push_back("same network");
    } else if (change == 0) {
      parts.push_back("unchanged");
    } else if (target.change.regressed) {
      parts.push_back(absl::StrFormat("slower than the %g %% allowed", 100 * thresholds.allowed()));
    } else if (std::abs(change) <= thresholds.noise) {
      parts.push_back(absl::StrFormat("within the noise of %g %%", 100 * thresholds.noise));
    } else {
      parts.push_back(change > 0 ? absl::StrFormat("within the %g %% allowed", 100 * thresholds.allowed()) : "faster");
    }
  }
  if (target.Has(Problem::Kind::kOverBudget))
    parts.push_back(absl::StrFormat("over the budget of %g ms", target.budget_ms));
  if (target.Has(Problem::Kind::kUnsure))
    parts.push_back(thresholds.min_confidence >= 0 ? "confidence too low" : "too little is known");
  else if (target.change.after.extrapolating && !target.same)
    parts.push_back("a guess");
  if (!target.change.after.lacks_memory.empty()) parts.push_back(target.change.after.lacks_memory);
  return absl::StrJoin(parts, ", ");
}

std::vector<std::string> ProblemLines(const CheckReport& report) {
  std::vector<std::string> lines;
  for (const CheckedModel& model : report.models) {
    const std::string name = report.models.size() > 1 ? absl::StrCat(model.name, ": ") : "";
    if (!model.error.ok()) lines.push_back(absl::StrCat(name, ErrorText(model.error)));
    for (const CheckedTarget& target : model.targets) {
      for (const Problem& problem : target.problems) lines.push_back(absl::StrCat(name, problem.text));
    }
  }
  return lines;
}

int ReportExitCode(const CheckReport& report) {
  int code = kExitOk;
  for (const CheckedModel& model : report.models) {
    if (!model.error.ok()) return ExitCodeOf(model.error);
    for (const CheckedTarget& target : model.targets) {
      for (const Problem& problem : target.problems)
        code = std::max<int>(code, problem.kind == Problem::Kind::kUnsure ? kExitLowConfidence : kExitOverBudget);
    }
  }
  return code;
}

int ReportProblems(const CheckReport& report) {
  for (const std::string& line : ProblemLines(report)) Say(absl::StrCat(line, "\n"));
  return ReportExitCode(report);
}

}  // namespace cobra::client
