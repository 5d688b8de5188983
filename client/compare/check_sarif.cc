// SARIF 2.1.0 (OASIS), in the part that GitHub's code scanning reads.
#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "base/text/without_escapes.h"
#include "base/version.h"
#include "client/compare/check_alerts.h"
#include "client/compare/check_formats.h"
#include "client/terminal/output.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

using Json = nlohmann::ordered_json;

const char* LevelOf(const AlertRule& rule) { return rule.is_error ? "error" : "warning"; }

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
  return {{"physicalLocation", {{"artifactLocation", artifact}, {"region", {{"startLine", line}}}}}};
}

// Of SARIF's messages "[text](address)" is a link, which a name in somebody's files must not
// become.
std::string WithoutLinks(const std::string& message) {
  return absl::StrReplaceAll(WithoutEscapes(message), {{"](", "] ("}});
}

Json Result(const Alert& alert) {
  const auto& rules = AlertRules();
  const auto index = std::find(rules.begin(), rules.end(), alert.rule) - rules.begin();
  return {{"ruleId", alert.rule->id},
          {"ruleIndex", index},
          {"level", LevelOf(*alert.rule)},
          {"message", {{"text", WithoutLinks(alert.message)}}},
          {"locations", Json::array({Location(alert.file, alert.line)})}};
}

Json RulesJson() {
  Json rules = Json::array();
  for (const AlertRule* rule : AlertRules()) {
    rules.push_back({{"id", rule->id},
                     {"shortDescription", {{"text", rule->short_text}}},
                     {"fullDescription", {{"text", rule->full_text}}},
                     {"help", {{"text", absl::StrCat(rule->full_text, " See docs/ci.md of COBRA.")}}},
                     {"defaultConfiguration", {{"level", LevelOf(*rule)}}}});
  }
  return rules;
}

}  // namespace

std::string CheckSarif(const CheckReport& report) {
  Json results = Json::array();
  for (const Alert& alert : AlertsOf(report)) results.push_back(Result(alert));
  const Json run = {{"tool", {{"driver", {{"name", "cobra-client"}, {"version", Version()}, {"rules", RulesJson()}}}}},
                    {"results", std::move(results)}};
  const Json log = {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", Json::array({run})}};
  return IndentedJson(log);
}

}  // namespace cobra::client
