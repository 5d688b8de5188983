// A Code Quality report (Code Climate's issues), in the part that GitLab reads.
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/bytes/hash.h"
#include "base/text/without_escapes.h"
#include "client/compare/check_alerts.h"
#include "client/compare/check_formats.h"
#include "client/terminal/output.h"
#include "nlohmann/json.hpp"

namespace cobra::client {

std::string CheckCodeQuality(const CheckReport& report) {
  nlohmann::ordered_json issues = nlohmann::ordered_json::array();
  std::map<std::string, int> met;
  for (const Alert& alert : AlertsOf(report)) {
    // GitLab takes two issues of one fingerprint for the same one, of which it shows one. It tells
    // by it, too, which issues are new: so it does not change with a number in the message or with
    // the lines above. Lines of one file and model are distinguished by their order.
    std::string fingerprint = absl::StrCat(alert.rule->id, "\n", alert.model, "\n", alert.target, "\n", alert.file);
    absl::StrAppend(&fingerprint, "\n", met[fingerprint]++);
    issues.push_back({{"description", WithoutEscapes(alert.message)},
                      {"check_name", alert.rule->id},
                      {"fingerprint", Sha256Hex(fingerprint)},
                      {"severity", alert.rule->is_error ? "major" : "minor"},
                      {"location", {{"path", alert.file}, {"lines", {{"begin", alert.line}}}}}});
  }
  return IndentedJson(issues);
}

}  // namespace cobra::client
