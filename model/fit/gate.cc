#include "model/fit/gate.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "model/fit/trainer.h"
#include "nlohmann/json.hpp"

namespace cobra::fit {
namespace {

// Fewer rows than this make no anchor of their own: a single row could decide by chance, and of forty small anchors one
// always fails by chance. Such rows count under "all".
constexpr size_t kMinAnchorRows = 20;
constexpr size_t kMinHeldOut = 5;
// A change of more standard errors of the mean paired difference than this is not noise. One-sided 99.9 % for each
// anchor, because there are about forty.
constexpr double kNoiseSigmas = 3.1;

struct Errors {
  std::vector<double> before, after;
};

double Mean(absl::Span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

absl::StatusOr<std::map<std::string, Errors>> ErrorsByAnchor(absl::string_view old_directory,
                                                             absl::string_view new_directory,
                                                             const std::vector<const Sample*>& rows) {
  COBRA_ASSIGN_OR_RETURN(const Predictions before, PredictSamples(old_directory, rows));
  COBRA_ASSIGN_OR_RETURN(const Predictions after, PredictSamples(new_directory, rows));
  std::map<std::string, Errors> anchors;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Sample& s = *rows[i];
    const std::string kind = s.is_network() ? "network" : "layer";
    for (const std::string& name : {absl::StrCat(kind, " ", s.label()), absl::StrCat(kind, " all")}) {
      anchors[name].before.push_back(std::fabs(before.latency_us[i] / s.latency_us() - 1));
      anchors[name].after.push_back(std::fabs(after.latency_us[i] / s.latency_us() - 1));
    }
  }
  return anchors;
}

std::vector<const Sample*> HeldOut(const Dataset& data, bool* held_out) {
  std::vector<const Sample*> rows, all;
  for (const Sample& s : data.samples) {
    all.push_back(&s);
    if (s.split != Split::kTrain) rows.push_back(&s);
  }
  *held_out = rows.size() >= kMinHeldOut;
  return *held_out ? rows : all;
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
  COBRA_ASSIGN_OR_RETURN(const auto by_anchor, ErrorsByAnchor(old_directory, new_directory, fixed));
  std::vector<std::string> worse;
  for (const auto& [name, errors] : by_anchor) {
    if (errors.before.size() < kMinAnchorRows) continue;
    report.anchors.push_back(
        CompareOnAnchor(name, errors.before, errors.after, name[0] == 'l' ? layer_floor : network_floor));
    if (!report.anchors.back().passed) worse.push_back(name);
  }
  COBRA_ASSIGN_OR_RETURN(const auto by_fresh_row,
                         ErrorsByAnchor(old_directory, new_directory, HeldOut(fresh, &report.new_rows_held_out)));
  bool better = by_fresh_row.empty();
  for (const auto& [name, errors] : by_fresh_row) {
    if (name != "layer all" && name != "network all") continue;
    GateRow row = CompareOnAnchor(absl::StrCat("new ", name), errors.before, errors.after, layer_floor);
    if (!row.passed) worse.push_back(row.name);
    better = better || row.new_mape < row.old_mape;
    report.fresh_rows.push_back(std::move(row));
  }
  if (!worse.empty()) report.reason = absl::StrCat("worse by more than the noise on ", absl::StrJoin(worse, ", "));
  if (worse.empty() && !better) report.reason = "not better on the new rows";
  report.passed = report.reason.empty();
  return report;
}

std::string GateReportToJson(const GateReport& report) {
  return nlohmann::json{{"passed", report.passed},
                        {"reason", report.reason},
                        {"anchors", RowsToJson(report.anchors)},
                        {"new", RowsToJson(report.fresh_rows)},
                        {"new_rows_held_out", report.new_rows_held_out}}
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
  if (!report.new_rows_held_out)
    absl::StrAppend(&out, "(too few new rows to keep any from training: the new ones were trained on)\n");
  absl::StrAppend(&out, report.passed ? "passed\n" : absl::StrCat("refused: ", report.reason, "\n"));
  return out;
}

}  // namespace cobra::fit
