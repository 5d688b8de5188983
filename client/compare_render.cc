#include "client/compare_render.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/text_table.h"

namespace cobra::client {
namespace {

using Json = nlohmann::ordered_json;

std::string SignedPercent(double fraction) { return absl::StrFormat("%+.1f %%", 100 * fraction); }
std::string SignedMilliseconds(double us) { return absl::StrFormat("%+.3f", us / 1000); }
std::string Interval(const SavedTarget& t) {
  return absl::StrCat(MillisecondsText(t.low_us), " ... ", MillisecondsText(t.high_us));
}

std::string CallsText(const ModuleChange& m) {
  if (m.before.calls == m.after.calls) return absl::StrCat(m.after.calls);
  return absl::StrCat(m.before.calls, " -> ", m.after.calls);
}

std::string ModulesText(const TargetChange& t, int top) {
  const size_t shown = std::min(t.modules.size(), static_cast<size_t>(top));
  std::string text = absl::StrCat("\n", t.after.target, ": modules that changed most\n");
  if (shown == 0) return absl::StrCat("\n", t.after.target, ": no module changed\n");
  std::vector<std::vector<std::string>> rows = {{"change ms", "old ms", "new ms", "calls", "module"}};
  for (size_t i = 0; i < shown; ++i) {
    const ModuleChange& m = t.modules[i];
    std::string path = m.path.empty() ? "(the model's own calls)" : m.path;
    if (m.alike > 1) path = absl::StrCat(m.alike, " x ", path);
    rows.push_back({SignedMilliseconds(m.change_us()), MillisecondsText(m.before.latency_us),
                    MillisecondsText(m.after.latency_us), CallsText(m), std::move(path)});
  }
  absl::StrAppend(&text, TextTable(rows, {true, true, true, true, false}));
  if (shown < t.modules.size()) absl::StrAppend(&text, "and ", t.modules.size() - shown, " more\n");
  return text;
}

}  // namespace

std::string ComparisonText(const Comparison& c, int top) {
  std::string text = absl::StrCat("old: ", c.before.name, "\nnew: ", c.after.name, "\n");
  if (c.same_network()) absl::StrAppend(&text, "the networks are the same\n");
  if (c.before.model_version != c.after.model_version) {
    absl::StrAppend(&text, "warning: two versions of the weights (", c.before.model_version, " and ",
                    c.after.model_version, ") may explain part of the change; predict the old model again\n");
  }
  std::vector<std::vector<std::string>> rows = {
      {"target", "old ms", "new ms", "change", "old interval ms", "new interval ms", "confidence", ""}};
  for (const TargetChange& t : c.targets) {
    rows.push_back({t.after.target, MillisecondsText(t.before.latency_us), MillisecondsText(t.after.latency_us),
                    SignedPercent(t.change()), Interval(t.before), Interval(t.after),
                    absl::StrFormat("%.2f, %.2f", t.before.confidence, t.after.confidence),
                    t.regressed ? absl::StrFormat("slower than the %g %% allowed", 100 * c.max_increase) : ""});
  }
  absl::StrAppend(&text, "\n", TextTable(rows, {false, true, true, true, true, true, true, false}));
  for (const TargetChange& t : c.targets) {
    if (t.has_modules()) absl::StrAppend(&text, ModulesText(t, top));
  }
  const auto plain = [](const TargetChange& t) { return !t.has_modules(); };
  if (std::any_of(c.targets.begin(), c.targets.end(), plain)) {
    absl::StrAppend(&text, "\npredict both with --breakdown to see the modules that changed\n");
  }
  if (!c.only_before.empty()) {
    absl::StrAppend(&text, "\nonly in ", c.before.name, ": ", absl::StrJoin(c.only_before, ", "), "\n");
  }
  return text;
}

Json ComparisonJson(const Comparison& c) {
  Json j = {{"old", {{"name", c.before.name}, {"model_version", c.before.model_version}}},
            {"new", {{"name", c.after.name}, {"model_version", c.after.model_version}}},
            {"max_increase", c.max_increase},
            {"regressed", c.regressed()},
            {"same_network", c.same_network()},
            {"targets", Json::array()},
            {"only_in_old", c.only_before}};
  for (const TargetChange& t : c.targets) {
    Json target = {{"target", t.after.target},
                   {"device", t.after.device},
                   {"old_latency_us", t.before.latency_us},
                   {"new_latency_us", t.after.latency_us},
                   {"change", t.change()},
                   {"regressed", t.regressed},
                   {"old_low_us", t.before.low_us},
                   {"old_high_us", t.before.high_us},
                   {"new_low_us", t.after.low_us},
                   {"new_high_us", t.after.high_us},
                   {"old_confidence", t.before.confidence},
                   {"new_confidence", t.after.confidence}};
    if (t.has_modules()) {
      target["modules"] = Json::array();
      for (const ModuleChange& m : t.modules) {
        target["modules"].push_back({{"module", m.path},
                                     {"alike", m.alike},
                                     {"old_calls", m.before.calls},
                                     {"new_calls", m.after.calls},
                                     {"old_latency_us", m.before.latency_us},
                                     {"new_latency_us", m.after.latency_us}});
      }
    }
    j["targets"].push_back(std::move(target));
  }
  return j;
}

}  // namespace cobra::client
