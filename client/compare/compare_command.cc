#include "client/compare/compare_command.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "client/compare/check_formats.h"
#include "client/compare/compare_render.h"
#include "client/terminal/output.h"
#include "client/terminal/progress.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

// The limit of a saved result: a breakdown of 20,000 calls on ten targets has 40 MB.
constexpr int64_t kMaxJsonBytes = int64_t{256} << 20;

}  // namespace

absl::StatusOr<SavedPrediction> LoadPrediction(const std::string& path) {
  Progress progress(absl::StrCat("reading ", path));
  const absl::StatusOr<std::string> text = ReadMaybeCompressed(path, kMaxJsonBytes);
  if (!text.ok()) return UsageError(std::string(text.status().message()));
  return ParsePrediction(*text, path);
}

absl::StatusOr<int> RunCompare(const CommonFlags& common, const CompareFlags& flags) {
  CompareOptions options;
  options.different_models = flags.different_models;
  Thresholds thresholds;
  thresholds.min_confidence = flags.min_confidence;
  COBRA_ASSIGN_OR_RETURN(thresholds.max_increase, ParseIncrease("--max-increase", flags.max_increase));
  options.max_increase = thresholds.allowed();
  COBRA_ASSIGN_OR_RETURN(SavedPrediction before, LoadPrediction(flags.before));
  COBRA_ASSIGN_OR_RETURN(SavedPrediction after, LoadPrediction(flags.after));
  COBRA_ASSIGN_OR_RETURN(const Comparison comparison, Compare(std::move(before), std::move(after), options));
  CheckReport report{flags.before, flags.after, {}};
  CheckedModel& model = report.models.emplace_back(ComparedModel(comparison, thresholds, {}));
  model.name = model.file = comparison.after.model();
  if (!flags.format.empty()) {
    PrintData(CheckIn(flags.format, report, flags.top));
    return ReportProblems(report);
  }
  if (common.json) {
    PrintData(IndentedJson(ComparisonJson(comparison)));
  } else {
    const TerminalStyle style = StandardOutputStyle(common.color);
    PrintText(ComparisonText(comparison, flags.top, style), style.color);
  }
  return ReportProblems(report);
}

}  // namespace cobra::client
