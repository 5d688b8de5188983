// SARIF 2.1.0 (OASIS), in the part that GitHub's code scanning reads.
#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "base/text/utf8.h"
#include "base/text/without_escapes.h"
#include "base/version.h"
#include "client/answer/exit_code.h"
#include "client/compare/check_formats.h"
#include "client/compare/compare_render.h"
#include "client/compare/line_changes.h"
#include "client/terminal/output.h"
#include "client/terminal/text_table.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

using Json = nlohmann::ordered_json;

struct Rule {
  const char* id;
  const char* level;
  const char* short_text;
  const char* full_text;
};
constexpr Rule kSlowerLine{"slower-line", "error", "This line makes the network slower than allowed",
                           "The network's predicted latency grew by more than --max-increase, and this line is one of "
                           "those that take more time than before."};
constexpr Rule kOverBudget{"over-budget", "error", "The network is over its latency budget",
                           "The predicted latency is above budget-ms."};
constexpr Rule kUnsure{"low-confidence", "warning", "The prediction is not trusted",
                       "The network differs from those that the predictor was trained on, so there is no verdict."};
constexpr Rule kUnreadable{"unreadable-model", "error", "The model cannot be read",
                           "The model's source has an error, or uses what the reader does not support."};
constexpr const Rule* kRules[] = {&kSlowerLine, &kOverBudget, &kUnsure, &kUnreadable};

// Lines with less of the increase than this are not worth an alert.
constexpr double kMinShareOfIncrease = 0.05;

// A relative reference of RFC 3986.
std::string UriOf(absl::string_view path) {
  std::string uri;
  for (const char c : path) {
    if (absl::ascii_isalnum(c) || absl::string_view("-._~/").find(c) != absl::string_view::npos) {
      uri += c;
    } else {
      absl::StrAppendFormat(&uri, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  // "C:x" would be a scheme; encoded colons cannot be one. A path from the root is a file of its
  // own.
  return !path.empty() && path[0] == '/' ? absl::StrCat("file://", uri) : uri;
}

Json Location(const std::string& file, int line) {
  const std::string uri = UriOf(file);
  Json artifact = {{"uri", uri}};
  if (uri.rfind("file://", 0) != 0) artifact["uriBaseId"] = "%SRCROOT%";
  // Code scanning wants a line; a file as a whole is shown at its first one.
  return {{"physicalLocation", {{"artifactLocation", artifact}, {"region", {{"startLine", std::max(line, 1)}}}}}};
}

// Of SARIF's messages "[text](address)" is a link, which a name in somebody's files must not
// become.
std::string WithoutLinks(const std::string& message) {
  return absl::StrReplaceAll(WithoutEscapes(message), {{"](", "] ("}});
}

Json Result(const Rule& rule, const std::string& message, const std::string& file, int line) {
  const auto index = std::find(std::begin(kRules), std::end(kRules), &rule) - std::begin(kRules);
  return {{"ruleId", rule.id},
          {"ruleIndex", index},
          {"level", rule.level},
          {"message", {{"text", WithoutLinks(message)}}},
          {"locations", Json::array({Location(file, line)})}};
}

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

void AddModel(const CheckedModel& model, Json* results) {
  if (!model.error.ok()) {
    const bool placed = !model.error_file.empty();
    results->push_back(Result(kUnreadable, absl::StrCat(model.name, ": ", std::string(model.error.message())),
                              placed ? model.error_file : model.file, placed ? model.error_line : model.line));
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
    results->push_back(Result(kSlowerLine, slower.text, at.file, at.line));
  }
  for (const CheckedTarget& t : model.targets) {
    for (const Problem& problem : t.problems) {
      if (problem.kind == Problem::Kind::kSlower) continue;
      const Rule& rule = problem.kind == Problem::Kind::kUnsure ? kUnsure : kOverBudget;
      results->push_back(Result(rule, absl::StrCat(model.name, ": ", problem.text, "."), model.file, model.line));
    }
  }
}

Json RulesJson() {
  Json rules = Json::array();
  for (const Rule* rule : kRules) {
    rules.push_back({{"id", rule->id},
                     {"shortDescription", {{"text", rule->short_text}}},
                     {"fullDescription", {{"text", rule->full_text}}},
                     {"help", {{"text", absl::StrCat(rule->full_text, " See docs/ci.md of COBRA.")}}},
                     {"defaultConfiguration", {{"level", rule->level}}}});
  }
  return rules;
}

}  // namespace

std::string CheckSarif(const CheckReport& report) {
  Json results = Json::array();
  for (const CheckedModel& model : report.models) AddModel(model, &results);
  const Json run = {{"tool", {{"driver", {{"name", "cobra-client"}, {"version", Version()}, {"rules", RulesJson()}}}}},
                    {"results", std::move(results)}};
  const Json log = {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", Json::array({run})}};
  return IndentedJson(log);
}

}  // namespace cobra::client
