#include "client/compare/check_alerts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/compare/check_formats.h"
#include "client/compare/compare_render.h"
#include "client/compare/line_changes.h"
#include "client/terminal/text_table.h"

namespace cobra::client {
namespace {

constexpr AlertRule kSlowerLine{
    "slower-line", true, "This line makes the network slower than allowed",
    "The network's predicted latency grew by more than --max-increase, and this line is one of "
    "those that take more time than before."};
constexpr AlertRule kOverBudget{"over-budget", true, "The network is over its latency budget",
                                "The predicted latency is above budget-ms."};
constexpr AlertRule kUnsure{
    "low-confidence", false, "The prediction is not trusted",
    "The network differs from those that the predictor was trained on, so there is no verdict."};
constexpr AlertRule kUnreadable{"unreadable-model", true, "The model cannot be read",
                                "The model's source has an error, or uses what the reader does not support."};

// Lines with less of the increase than this are not worth an alert.
constexpr double kMinShareOfIncrease = 0.05;

// What a line of a model did on all targets where the model is slower than allowed.
struct SlowerLine {
  double most_us = 0;
  std::string text;
};

void AddSlowerLines(const CheckedModel& model, const CheckedTarget& t, std::map<std::string, SlowerLine>* lines) {
  const double increase_us = t.change.after.latency_us - t.change.before.latency_us;
  int listed = 0;
  for (const LineChange& line : LineChanges(t.change.before, t.change.after)) {
    if (listed == kListedChanges || line.change_us() < kMinShareOfIncrease * increase_us) break;
    const SourceLine place = SplitPlace(line.place);
    if (place.file.empty() || place.file[0] == '/') continue;  // not of this repository
    ++listed;
    SlowerLine& slower = (*lines)[line.place];
    slower.most_us = std::max(slower.most_us, line.change_us());
    absl::StrAppend(
        &slower.text, slower.text.empty() ? "" : " ",
        absl::StrFormat("%s is %.1f %% slower on %s (%s -> %s ms; at most %g %% is allowed). This line "
                        "takes %s ms more (%s -> %s ms, %s calls%s).",
                        model.name, 100 * t.change.change(), t.target(), MillisecondsText(t.change.before.latency_us),
                        MillisecondsText(t.change.after.latency_us), 100 * t.thresholds.allowed(),
                        MillisecondsText(line.change_us()), MillisecondsText(line.before.latency_us),
                        MillisecondsText(line.after.latency_us), CallsText(line.before, line.after),
                        line.module.empty() ? "" : absl::StrCat("; most in ", line.module)));
  }
  if (listed > 0) return;
  // Without a breakdown, or where all slower lines are those of a library.
  SlowerLine& whole = (*lines)[absl::StrCat(model.file, ":", std::max(model.line, 1))];
  for (const Problem& problem : t.problems) {
    if (problem.kind == Problem::Kind::kSlower)
      absl::StrAppend(&whole.text, whole.text.empty() ? "" : " ", model.name, " on ", problem.text, ".");
  }
  whole.most_us = std::max(whole.most_us, increase_us);
}

void AddModel(const CheckedModel& model, std::vector<Alert>* alerts) {
  const auto add = [&](const AlertRule& rule, const std::string& message, const std::string& file, int line,
                       const std::string& target = "") {
    alerts->push_back({&rule, message, file, std::max(line, 1), model.name, target});
  };
  if (!model.error.ok()) {
    const bool placed = !model.error_file.empty();
    add(kUnreadable, absl::StrCat(model.name, ": ", std::string(model.error.message())),
        placed ? model.error_file : model.file, placed ? model.error_line : model.line);
  }
  std::map<std::string, SlowerLine> by_place;
  for (const CheckedTarget& t : model.targets) {
    if (t.Has(Problem::Kind::kSlower)) AddSlowerLines(model, t, &by_place);
  }
  std::vector<std::pair<std::string, SlowerLine>> lines(by_place.begin(), by_place.end());
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.second.most_us > b.second.most_us; });
  for (const auto& [place, slower] : lines) {
    const SourceLine at = SplitPlace(place);
    add(kSlowerLine, slower.text, at.file, at.line);
  }
  for (const CheckedTarget& t : model.targets) {
    for (const Problem& problem : t.problems) {
      if (problem.kind == Problem::Kind::kSlower) continue;
      const AlertRule& rule = problem.kind == Problem::Kind::kUnsure ? kUnsure : kOverBudget;
      add(rule, absl::StrCat(model.name, ": ", problem.text, "."), model.file, model.line, t.target());
    }
  }
}

}  // namespace

const std::array<const AlertRule*, 4>& AlertRules() {
  static constexpr std::array<const AlertRule*, 4> kRules = {&kSlowerLine, &kOverBudget, &kUnsure, &kUnreadable};
  return kRules;
}

std::vector<Alert> AlertsOf(const CheckReport& report) {
  std::vector<Alert> alerts;
  for (const CheckedModel& model : report.models) AddModel(model, &alerts);
  return alerts;
}

}  // namespace cobra::client
