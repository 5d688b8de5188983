#include "client/compare/compare.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "base/user_error.h"
#include "client/answer/path_pattern.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

using nlohmann::json;

// Changes whose relative difference is smaller are shown as one line: predictions of blocks at
// different depths differ a little.
constexpr double kSimilarityTolerance = 0.1;
constexpr double kUnchangedUs = 0.005;  // a difference left by rounding

std::string TextOf(const json& j, const char* key) {
  const auto it = j.find(key);
  if (it == j.end() || it->is_null()) return "";
  return it->is_string() ? it->get<std::string>() : it->dump();
}

std::string FileName(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return std::filesystem::path(path).filename().string();
}

absl::StatusOr<double> NumberOf(const json& j, const char* key, const std::string& name) {
  const auto it = j.find(key);
  if (it == j.end() || !it->is_number()) {
    return UsageError(absl::StrCat(name, ": a prediction in it has no \"", key, "\""),
                      "give the output of `cobra-client predict --format json`");
  }
  return it->get<double>();
}

absl::StatusOr<SavedTarget> ParseTarget(const json& j, const std::string& name) {
  SavedTarget t;
  if (!j.is_object()) return UsageError(absl::StrCat(name, ": a prediction in it is not an object"), "");
  t.target = TextOf(j, "target");
  t.device = TextOf(j, "device");
  COBRA_ASSIGN_OR_RETURN(t.latency_us, NumberOf(j, "latency_us", name));
  COBRA_ASSIGN_OR_RETURN(t.low_us, NumberOf(j, "low_us", name));
  COBRA_ASSIGN_OR_RETURN(t.high_us, NumberOf(j, "high_us", name));
  COBRA_ASSIGN_OR_RETURN(t.confidence, NumberOf(j, "confidence", name));
  const auto extrapolating = j.find("extrapolating");
  t.extrapolating = extrapolating != j.end() && extrapolating->is_boolean() && extrapolating->get<bool>();
  t.lacks_memory = TextOf(j, "memory");
  if (!(t.latency_us > 0))
    return UsageError(absl::StrCat(name, ": ", t.target, " has a latency that is not above 0"), "");
  const auto rows = j.find("breakdown");
  if (rows == j.end() || !rows->is_array()) return t;
  t.has_breakdown = true;
  for (const json& row : *rows) {
    if (!row.is_object()) return UsageError(absl::StrCat(name, ": a row of its breakdown is not an object"), "");
    COBRA_ASSIGN_OR_RETURN(const double latency_us, NumberOf(row, "latency_us", name));
    t.calls.push_back({TextOf(row, "module"), TextOf(row, "op"), TextOf(row, "where"), latency_us});
    SavedModule& module = t.modules[t.calls.back().module];
    ++module.calls;
    module.latency_us += latency_us;
  }
  return t;
}

bool Near(double a, double b) { return std::abs(a - b) <= kSimilarityTolerance * std::abs(a) + kUnchangedUs; }

bool HasLargerChange(const ModuleChange& a, const ModuleChange& b) {
  return std::abs(a.change_us()) > std::abs(b.change_us());
}

// Merges modules into one line if their paths differ only in numbers and they changed equally.
std::vector<ModuleChange> Merged(const std::vector<ModuleChange>& sorted) {
  struct Group {
    const ModuleChange* first;
    ModuleChange sum;
    std::vector<absl::string_view> paths;
  };
  std::map<std::string, std::vector<Group>> by_pattern;
  for (const ModuleChange& m : sorted) {
    std::vector<Group>& groups = by_pattern[PathPattern(m.path)];
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
      const ModuleChange& f = *g.first;
      return f.before.calls == m.before.calls && f.after.calls == m.after.calls &&
             Near(f.before.latency_us, m.before.latency_us) && Near(f.after.latency_us, m.after.latency_us) &&
             Near(f.change_us(), m.change_us());
    });
    if (same == groups.end()) {
      groups.push_back({&m, m, {m.path}});
      continue;
    }
    ModuleChange& sum = same->sum;
    same->paths.push_back(m.path);
    ++sum.alike;
    sum.before.calls += m.before.calls;
    sum.before.latency_us += m.before.latency_us;
    sum.after.calls += m.after.calls;
    sum.after.latency_us += m.after.latency_us;
  }
  std::vector<ModuleChange> merged;
  for (auto& [pattern, groups] : by_pattern) {
    std::map<std::string, int> times;  // equal names would not say which of them changed
    for (const Group& group : groups) ++times[CommonPath(group.paths)];
    for (Group& group : groups) {
      group.sum.path = CommonPath(group.paths);
      if (times[group.sum.path] > 1) group.sum.path = NumberedPath(group.paths);
      merged.push_back(std::move(group.sum));
    }
  }
  std::stable_sort(merged.begin(), merged.end(), HasLargerChange);
  return merged;
}

std::vector<ModuleChange> ChangesOf(const SavedTarget& before, const SavedTarget& after) {
  std::set<std::string> paths;
  for (const auto& [path, module] : before.modules) paths.insert(path);
  for (const auto& [path, module] : after.modules) paths.insert(path);
  std::vector<ModuleChange> changes;
  for (const std::string& path : paths) {
    ModuleChange change;
    change.path = path;
    if (const auto it = before.modules.find(path); it != before.modules.end()) change.before = it->second;
    if (const auto it = after.modules.find(path); it != after.modules.end()) change.after = it->second;
    if (std::abs(change.change_us()) >= kUnchangedUs) changes.push_back(std::move(change));
  }
  std::stable_sort(changes.begin(), changes.end(), HasLargerChange);
  return Merged(changes);
}

absl::Status CheckSameQuestion(const SavedPrediction& before, const SavedPrediction& after, const std::string& hint) {
  const std::vector<std::string> differences = QuestionDifferences(before, after);
  if (differences.empty()) return absl::OkStatus();
  return UsageError(absl::StrCat(after.name, ": answers a different request from ", before.name, ": ",
                                 absl::StrJoin(differences, "; ")),
                    hint);
}

}  // namespace

std::vector<std::string> QuestionDifferences(const SavedPrediction& before, const SavedPrediction& after) {
  std::vector<std::string> differences;
  for (size_t i = 0; i < before.question.size() && i < after.question.size(); ++i) {
    const auto& [key, was] = before.question[i];
    const std::string& is = after.question[i].second;
    const auto shown = [](const std::string& value) { return value.empty() ? std::string("none") : value; };
    if (was != is)
      differences.push_back(
          absl::StrCat(key, " is ", shown(was), " in ", before.name, " and ", shown(is), " in ", after.name));
  }
  return differences;
}

std::string SavedPrediction::model() const {
  for (const auto& [key, value] : question) {
    if ((key == "model" || key == "arch") && !value.empty()) return value;
  }
  return name;
}

bool Comparison::regressed() const {
  return std::any_of(targets.begin(), targets.end(), [](const TargetChange& t) { return t.regressed; });
}

absl::StatusOr<SavedPrediction> ParsePrediction(absl::string_view text, const std::string& name) {
  const json j = ParseJson<json>(text);
  const auto predictions = j.is_object() ? j.find("predictions") : j.end();
  if (!j.is_object() || predictions == j.end() || !predictions->is_array()) {
    const bool error = j.is_object() && j.contains("error");
    return UsageError(absl::StrCat(name, ": is not a result of predict", error ? ": it holds an error" : ""),
                      "give the output of `cobra-client predict --format json`");
  }
  SavedPrediction saved;
  saved.name = name;
  for (const char* key : {"model", "arch", "entry", "method", "inputs", "arguments", "mode", "cached_tokens"}) {
    std::string value = TextOf(j, key);
    if (key == absl::string_view("mode") && value == "eval") value.clear();  // results of earlier versions have none
    saved.question.emplace_back(key, key == absl::string_view("model") ? FileName(std::move(value)) : std::move(value));
  }
  saved.fingerprint = TextOf(j, "fingerprint");
  saved.model_version = TextOf(j, "model_version");
  for (const json& prediction : *predictions) {
    COBRA_ASSIGN_OR_RETURN(SavedTarget target, ParseTarget(prediction, name));
    saved.targets.push_back(std::move(target));
  }
  if (saved.targets.empty()) return UsageError(absl::StrCat(name, ": has no prediction"), "");
  return saved;
}

absl::StatusOr<Comparison> Compare(SavedPrediction before, SavedPrediction after, const CompareOptions& options) {
  if (!options.different_models) COBRA_RETURN_IF_ERROR(CheckSameQuestion(before, after, options.different_hint));
  Comparison c;
  c.max_increase = options.max_increase;
  std::set<std::string> compared;
  for (SavedTarget& now : after.targets) {
    const auto was = std::find_if(before.targets.begin(), before.targets.end(),
                                  [&](const SavedTarget& t) { return t.target == now.target; });
    if (was == before.targets.end()) {
      return UsageError(absl::StrCat(before.name, ": has no target ", now.target, ", which ", after.name, " has"),
                        absl::StrCat("predict it for ", now.target, " too"));
    }
    if (was->device != now.device) {
      return UsageError(
          absl::StrCat(after.name, ": its ", now.target, " is another device: ", now.device, ", in ", before.name, " ",
                       was->device),
          "predict both on one server, or use different target names: cobra-client calibrate --name NAME");
    }
    compared.insert(now.target);
    TargetChange& change = c.targets.emplace_back();
    change.before = *was;
    change.after = std::move(now);
    change.regressed = change.change() > options.max_increase;
    if (change.has_modules()) change.modules = ChangesOf(change.before, change.after);
  }
  std::stable_partition(c.targets.begin(), c.targets.end(),
                        [](const TargetChange& change) { return !change.is_guess(); });
  for (const SavedTarget& was : before.targets) {
    if (compared.count(was.target) == 0) c.only_before.push_back(was.target);
  }
  c.before = std::move(before);
  c.after = std::move(after);
  c.before.targets.clear();
  c.after.targets.clear();
  return c;
}

absl::StatusOr<double> ParseIncrease(absl::string_view flag, absl::string_view text) {
  absl::string_view number = absl::StripAsciiWhitespace(text);
  double value = 0;
  const bool percent = absl::ConsumeSuffix(&number, "%");
  if (!percent || !absl::SimpleAtod(absl::StripAsciiWhitespace(number), &value) || !(value >= 0) ||
      !std::isfinite(value)) {
    return UsageError(absl::StrCat(flag, " ", text, ": is not a percentage"),
                      absl::StrCat("write it with its sign: ", flag, " 5%"));
  }
  return value / 100;
}

}  // namespace cobra::client
