#include "client/ask/predict_command.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/adapt/usual_targets.h"
#include "client/answer/memory_fit.h"
#include "client/ask/prediction_render.h"
#include "client/compare/check_formats.h"
#include "client/compare/check_report.h"
#include "client/compare/compare.h"
#include "client/compare/compare_command.h"
#include "client/compare/compare_render.h"
#include "client/request/ask_about.h"
#include "client/terminal/output.h"
#include "report/question.h"

namespace cobra::client {
namespace {

// Compares the answer with the baseline, in the form in which the answer would be saved.
absl::StatusOr<Comparison> CompareWithBaseline(SavedPrediction baseline, const v1::PredictResponse& response,
                                               const PredictionView& view, const Thresholds& thresholds) {
  COBRA_ASSIGN_OR_RETURN(SavedPrediction now, ParsePrediction(PredictionJson(response, view), "this prediction"));
  CompareOptions options;
  options.max_increase = thresholds.allowed();
  options.different_hint = absl::StrCat(
      "predict what the baseline predicted; or compare two models: this command with --format json > new.json instead "
      "of --baseline, then cobra-client compare ",
      baseline.name, " new.json --different-models");
  return Compare(std::move(baseline), std::move(now), options);
}

// What the formats of check reports show of one model's predictions.
CheckReport ReportOf(const v1::PredictResponse& response, const PredictFlags& flags, const Thresholds& thresholds,
                     const PredictionView& view) {
  const Comparison* const comparison = view.comparison;
  const Budgets budgets_ms{{"", flags.budget_ms}};
  SavedPrediction saved;
  saved.model_version = response.model_version();
  for (const v1::TargetPrediction& p : response.predictions()) {
    SavedTarget& target = saved.targets.emplace_back();
    target.target = p.target();
    target.latency_us = p.latency_us();
    target.low_us = p.low_us();
    target.high_us = p.high_us();
    target.confidence = p.confidence();
    target.extrapolating = p.extrapolating();
    target.lacks_memory = LackOfMemory(response, p, view.targets);
  }
  CheckReport report{comparison == nullptr ? "" : comparison->before.name, "this prediction", {}};
  report.models.push_back(comparison == nullptr ? PredictedModel(saved, thresholds, budgets_ms)
                                                : ComparedModel(*comparison, thresholds, budgets_ms));
  report.models[0].name = report::TitleOf(flags.model);
  report.models[0].file = flags.model.path;
  return report;
}

}  // namespace

absl::StatusOr<int> RunPredict(const CommonFlags& common, PredictFlags flags) {
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  const bool named = !flags.targets.empty();
  if (!named) {
    COBRA_ASSIGN_OR_RETURN(flags.targets, UsualTargets(common));
  }
  Thresholds thresholds;
  thresholds.min_confidence = flags.min_confidence;
  COBRA_ASSIGN_OR_RETURN(thresholds.max_increase, ParseIncrease("--max-increase", flags.max_increase));
  std::optional<SavedPrediction> baseline;
  if (!flags.baseline.empty()) {
    COBRA_ASSIGN_OR_RETURN(baseline, LoadPrediction(flags.baseline));
  }
  COBRA_ASSIGN_OR_RETURN(ModelInput input, LoadModel(&flags.model, common.client.deadline));
  COBRA_ASSIGN_OR_RETURN(const v1::PredictResponse response,
                         AskAbout(common, flags.ask, flags.targets, flags.model, &input));
  PredictionView view{report::TitleOf(flags.model),     flags.budget_ms, flags.ask.breakdown, flags.model, {}, nullptr,
                      StandardOutputStyle(common.color)};
  if (!common.quiet || common.json || baseline.has_value() || flags.budget_ms > 0) {
    COBRA_ASSIGN_OR_RETURN(view.targets, SheetsOf(Client::Connect(common.client).get()));
  }
  std::optional<Comparison> comparison;
  if (baseline.has_value()) {
    COBRA_ASSIGN_OR_RETURN(comparison, CompareWithBaseline(*std::move(baseline), response, view, thresholds));
    view.comparison = &*comparison;
  }
  const CheckReport report = ReportOf(response, flags, thresholds, view);
  if (!flags.format.empty()) {
    PrintData(CheckIn(flags.format, report));
    return ReportProblems(report);
  }
  const bool shortens = !named && !flags.all;
  if (common.json) {
    PrintData(PredictionJson(response, view));
  } else if (common.quiet) {
    PrintText(LatencyLines(response));
  } else {
    PrintText(shortens ? ShortPredictionTable(response, view) : PredictionTable(response, view), view.style.color);
    if (comparison.has_value())
      PrintText(absl::StrCat("\n", ComparisonText(*comparison, /*top=*/10, view.style)), view.style.color);
  }
  return ReportProblems(report);
}

}  // namespace cobra::client
