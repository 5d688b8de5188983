#include "model/training/evaluation/gate.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "model/training/evaluation/evaluate.h"
#include "model/training/trainer.h"
#include "nlohmann/json.hpp"

namespace cobra::training {
namespace {

// Fewer rows than this do not make an anchor: a single row could decide by chance, and of forty
// small anchors one always fails by chance. Such rows count under "all".
constexpr size_t kMinAnchorRows = 20;
// A change of more standard errors of the mean paired difference than this is not noise. One-sided
// 99.9 % for each anchor, because there are about forty.
constexpr double kNoiseSigmas = 3.1;

constexpr size_t kMaxMovedNamed = 5;  // in the reason; the report has all

struct Errors {
  std::vector<double> before, after;
};
// Predicted over measured latency of rows, by both versions.
struct Ratios {
  std::vector<double> before, after;
};

double Mean(absl::Span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

absl::StatusOr<Ratios> RatiosOf(absl::string_view old_directory, absl::string_view new_directory,
                                const std::vector<const Sample*>& rows, int target) {
  COBRA_ASSIGN_OR_RETURN(const Predictions before, PredictSamples(old_directory, rows, target));
  COBRA_ASSIGN_OR_RETURN(const Predictions after, PredictSamples(new_directory, rows, target));
  Ratios ratios;
  for (size_t i = 0; i < rows.size(); ++i) {
    ratios.before.push_back(before.latency_us[i] / rows[i]->latency_us());
    ratios.after.push_back(after.latency_us[i] / rows[i]->latency_us());
  }
  return ratios;
}

std::map<std::string, Errors> ErrorsByAnchor(const std::vector<const Sample*>& rows, const Ratios& ratios) {
  std::map<std::string, Errors> anchors;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Sample& s = *rows[i];
    const std::string kind = s.is_network() ? "network" : "layer";
    for (const std::string& name : {absl::StrCat(kind, " ", s.label()), absl::StrCat(kind, " all")}) {
      anchors[name].before.push_back(std::fabs(ratios.before[i] - 1));
      anchors[name].after.push_back(std::fabs(ratios.after[i] - 1));
    }
  }
  return anchors;
}

std::vector<const Sample*> HeldOut(const Dataset& data) {
  std::vector<const Sample*> rows;
  for (const Sample& s : data.samples) {
    if (s.split != Split::kTrain) rows.push_back(&s);
  }
  return rows;
}

std::vector<std::string> MovedAnchors(const std::vector<const Sample*>& rows, const Ratios& ratios) {
  std::vector<std::string> moved;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!IsMovedFar(ratios.before[i], ratios.after[i])) continue;
    moved.push_back(absl::StrFormat("%s %s %s (%.3g times the measurement, %.3g before)",
                                    rows[i]->is_network() ? "network" : "layer", rows[i]->label(),
                                    rows[i]->fingerprint(), ratios.after[i], ratios.before[i]));
  }
  return moved;
}

// Why the version is refused; empty if it is not.
std::string Reason(const GateReport& report, const std::vector<std::string>& worse, bool better) {
  if (report.fresh_rows.empty()) return "no new row was held out of training to judge it";
  if (!worse.empty()) return absl::StrCat("worse by more than the noise on ", absl::StrJoin(worse, ", "));
  if (!report.moved.empty()) {
    const size_t named = std::min(kMaxMovedNamed, report.moved.size());
    return absl::StrCat("far worse on ", report.moved.size(),
                        " of the anchors: ", absl::StrJoin(absl::MakeConstSpan(report.moved).subspan(0, named), ", "));
  }
  return better ? "" : "not better on the new rows";
}

nlohmann::json RowsToJson(const std::vector<GateRow>& rows) {
  nlohmann::json j = nlohmann::json::array();
  for (const GateRow& r : rows) {
    j.push_back({{"name", r.name},
                 {"rows", r.rows},
                 {"old_mape", r.old_mape},
                 {"new_mape", r.new_mape},
                 {"allowed", r.allowed},
                 {"passed", r.passed}});
  }
  return j;
}

}  // namespace

bool IsMovedFar(double before_ratio, double after_ratio) {
  constexpr double kFar = 3, kMuchWorse = 2;
  const auto factor = [](double ratio) { return std::max(ratio, 1 / ratio); };
  const double after = factor(after_ratio);
  return !(after <= std::max(kFar, kMuchWorse * factor(before_ratio)));  // also for NaN
}

GateRow CompareOnAnchor(std::string name, absl::Span<const double> before, absl::Span<const double> after,
                        double floor) {
  GateRow row;
  row.name = std::move(name);
  row.rows = static_cast<int64_t>(before.size());
  row.old_mape = Mean(before);
  row.new_mape = Mean(after);
  double variance = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    const double off = after[i] - before[i] - (row.new_mape - row.old_mape);
    variance += off * off;
  }
  const double n = static_cast<double>(std::max<size_t>(2, before.size()));
  const double noise = kNoiseSigmas * std::sqrt(variance / (n - 1) / n);
  row.allowed = row.old_mape + std::max(noise, floor);
  row.passed = row.new_mape <= row.allowed;
  return row;
}

absl::StatusOr<GateReport> CompareVersions(absl::string_view old_directory, absl::string_view new_directory,
                                           const Dataset& anchors, const Dataset& fresh) {
  GateReport report;
  std::vector<const Sample*> fixed;
  for (const Sample& s : anchors.samples) {
    if (s.split == Split::kTest) fixed.push_back(&s);
  }
  const double layer_floor = RepeatabilityFloor(anchors.layer_repeats),
               network_floor = RepeatabilityFloor(anchors.network_repeats);
  COBRA_ASSIGN_OR_RETURN(const int target, TargetOf(old_directory, anchors));
  COBRA_ASSIGN_OR_RETURN(const Ratios fixed_ratios, RatiosOf(old_directory, new_directory, fixed, target));
  report.moved = MovedAnchors(fixed, fixed_ratios);
  std::vector<std::string> worse;
  for (const auto& [name, errors] : ErrorsByAnchor(fixed, fixed_ratios)) {
    if (errors.before.size() < kMinAnchorRows) continue;
    report.anchors.push_back(
        CompareOnAnchor(name, errors.before, errors.after, name[0] == 'l' ? layer_floor : network_floor));
    if (!report.anchors.back().passed) worse.push_back(name);
  }
  const std::vector<const Sample*> unseen = HeldOut(fresh);
  COBRA_ASSIGN_OR_RETURN(const Ratios unseen_ratios, RatiosOf(old_directory, new_directory, unseen, target));
  bool better = false;
  for (const auto& [name, errors] : ErrorsByAnchor(unseen, unseen_ratios)) {
    if (name != "layer all" && name != "network all") continue;
    GateRow row = CompareOnAnchor(absl::StrCat("new ", name), errors.before, errors.after, layer_floor);
    if (!row.passed) worse.push_back(row.name);
    better = better || row.new_mape < row.old_mape;
    report.fresh_rows.push_back(std::move(row));
  }
  report.reason = Reason(report, worse, better);
  report.passed = report.reason.empty();
  return report;
}

std::string GateReportToJson(const GateReport& report) {
  return nlohmann::json{{"passed", report.passed},
                        {"reason", report.reason},
                        {"anchors", RowsToJson(report.anchors)},
                        {"new", RowsToJson(report.fresh_rows)},
                        {"moved", report.moved}}
      .dump(1);
}

std::string GateReportToTable(const GateReport& report) {
  std::string out = absl::StrFormat("%-34s %6s %9s %9s %9s\n", "mean error", "rows", "old %", "new %", "allowed %");
  for (const std::vector<GateRow>* rows : {&report.anchors, &report.fresh_rows}) {
    for (const GateRow& r : *rows) {
      absl::StrAppendFormat(&out, "%-34s %6d %9.2f %9.2f %9.2f%s\n", r.name, r.rows, 100 * r.old_mape, 100 * r.new_mape,
                            100 * r.allowed, r.passed ? "" : "  <-");
    }
  }
  absl::StrAppend(&out, report.passed ? "passed\n" : absl::StrCat("refused: ", report.reason, "\n"));
  return out;
}

}  // namespace cobra::training
