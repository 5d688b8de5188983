#include "client/compare/check_formats.h"

#include <set>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/user_error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

SavedTarget TargetOf(const std::string& name, const std::vector<SavedCall>& calls) {
  SavedTarget target;
  target.target = name;
  target.confidence = 0.9;
  target.has_breakdown = true;
  target.calls = calls;
  for (const SavedCall& call : calls) {
    target.latency_us += call.latency_us;
    ++target.modules[call.module].calls;
    target.modules[call.module].latency_us += call.latency_us;
  }
  target.low_us = 0.9 * target.latency_us;
  target.high_us = 1.1 * target.latency_us;
  return target;
}

SavedPrediction Predicted(std::vector<SavedTarget> targets, const std::string& fingerprint) {
  SavedPrediction prediction;
  prediction.fingerprint = fingerprint;
  prediction.model_version = "2026-11-24-6fc6ca87";
  prediction.targets = std::move(targets);
  return prediction;
}

CheckedModel Compared(const std::string& name, std::vector<SavedTarget> before, std::vector<SavedTarget> after,
                      const Budgets& budgets_ms = {}, const std::string& fingerprint = "new") {
  const absl::StatusOr<Comparison> comparison =
      Compare(Predicted(std::move(before), "old"), Predicted(std::move(after), fingerprint), {});
  EXPECT_TRUE(comparison.ok()) << comparison.status();
  CheckedModel model = ComparedModel(*comparison, {}, budgets_ms);
  model.name = name;
  model.file = "cobra.toml";
  model.line = 7;
  return model;
}

const std::vector<SavedCall> kOldCalls = {{"stem", "conv2d", "net.py:10", 1000}, {"head", "linear", "net.py:11", 500}};
const std::vector<SavedCall> kNewCalls = {{"stem", "conv2d", "net.py:12", 2000}, {"head", "linear", "net.py:13", 500}};

// Everything that a report can have: two targets, a model that is new, one that is gone, one that
// cannot be read.
CheckReport WholeReport(const std::string& name = "classifier") {
  CheckReport report{"origin/main (3f2a1b0c)", "the working tree", {}};
  report.models.push_back(Compared(name, {TargetOf("cpu", kOldCalls), TargetOf("gpu", kOldCalls)},
                                   {TargetOf("cpu", kNewCalls), TargetOf("gpu", kOldCalls)}, {{"cpu", 2}}));
  CheckedModel created = PredictedModel(Predicted({TargetOf("cpu", kOldCalls)}, "x"), {}, {});
  created.status = CheckedModel::Status::kNew;
  created.name = "detector";
  report.models.push_back(created);
  CheckedModel& gone = report.models.emplace_back();
  gone.name = "tagger";
  gone.status = CheckedModel::Status::kGone;
  CheckedModel& broken = report.models.emplace_back();
  broken.name = "broken";
  broken.file = "cobra.toml";
  broken.line = 20;
  broken.status = CheckedModel::Status::kUnreadable;
  broken.error = UserError(Diagnostic::Kind::kModelError, "TypeError: <b> & \"c\"");
  broken.error_file = "models/broken net.py";
  broken.error_line = 3;
  return report;
}

TEST(CheckFormatsTest, TableHasARowForEachModelAndTarget) {
  const std::string text = CheckText(WholeReport());
  EXPECT_THAT(text, AllOf(HasSubstr("old: origin/main (3f2a1b0c)\nnew: the working tree\n"),
                          HasSubstr("1.500   2.500  +66.7 %"), HasSubstr("slower than the 5 % allowed"),
                          HasSubstr("gone"), HasSubstr("cannot be read"), HasSubstr("net.py:12")));
}

TEST(CheckFormatsTest, JsonHasAllOfIt) {
  const json report = json::parse(CheckJson(WholeReport()));
  EXPECT_EQ(report["exit_code"], 6);
  std::vector<std::string> statuses;
  for (const json& model : report["models"]) statuses.push_back(model["status"]);
  EXPECT_THAT(statuses, ElementsAre("compared", "new", "gone", "unreadable"));
  const json& cpu = report["models"][0]["targets"][0];
  EXPECT_EQ(cpu["budget_ms"], 2);
  EXPECT_EQ(cpu["old_latency_us"], 1500);
  EXPECT_EQ(cpu["lines"][0]["where"], "net.py:12");
  EXPECT_EQ(cpu["problems"].size(), 2u);
  EXPECT_EQ(report["models"][1]["targets"][0]["verdict"], "new");
  EXPECT_EQ(report["models"][3]["error"]["kind"], "model_error");
}

TEST(CheckFormatsTest, SarifPointsAtTheLineThatBecameSlower) {
  const json log = json::parse(CheckSarif(WholeReport()));
  EXPECT_EQ(log["version"], "2.1.0");
  EXPECT_TRUE(log["$schema"].is_string());
  const json& run = log["runs"][0];
  const json& rules = run["tool"]["driver"]["rules"];
  const json& results = run["results"];
  ASSERT_EQ(results.size(), 3u);
  for (const json& result : results) {
    EXPECT_EQ(rules[result["ruleIndex"].get<size_t>()]["id"], result["ruleId"]);
    EXPECT_FALSE(result["message"]["text"].get<std::string>().empty());
    EXPECT_GE(result["locations"][0]["physicalLocation"]["region"]["startLine"], 1);
  }
  const auto place = [&](int i) { return results[i]["locations"][0]["physicalLocation"]; };
  EXPECT_EQ(results[0]["ruleId"], "slower-line");
  EXPECT_EQ(place(0)["artifactLocation"]["uri"], "net.py");
  EXPECT_EQ(place(0)["region"]["startLine"], 12);
  EXPECT_THAT(results[0]["message"]["text"].get<std::string>(),
              AllOf(HasSubstr("66.7 % slower on cpu"), HasSubstr("1.000 ms more"), HasSubstr("most in stem")));
  EXPECT_EQ(results[1]["ruleId"], "over-budget");
  EXPECT_EQ(place(1)["artifactLocation"]["uri"], "cobra.toml");
  EXPECT_EQ(place(1)["region"]["startLine"], 7);
  EXPECT_EQ(results[2]["ruleId"], "unreadable-model");
  EXPECT_EQ(place(2)["artifactLocation"]["uri"], "models/broken%20net.py");
  EXPECT_EQ(place(2)["region"]["startLine"], 3);
}

TEST(CheckFormatsTest, SarifOfLinesOutsideOfTheRepositoryPointsAtTheModel) {
  CheckReport report{"old", "new", {}};
  report.models.push_back(Compared("m", {TargetOf("cpu", {{"a", "conv2d", "/usr/lib/x/resnet.py:9", 10}})},
                                   {TargetOf("cpu", {{"a", "conv2d", "/usr/lib/x/resnet.py:9", 20}})}));
  const json results = json::parse(CheckSarif(report))["runs"][0]["results"];
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "cobra.toml");
  EXPECT_EQ(results[0]["locations"][0]["physicalLocation"]["region"]["startLine"], 7);
}

TEST(CheckFormatsTest, SarifOfAGoodChangeHasNoResults) {
  CheckReport report{"old", "new", {}};
  report.models.push_back(Compared("m", {TargetOf("cpu", kNewCalls)}, {TargetOf("cpu", kOldCalls)}));
  const json run = json::parse(CheckSarif(report))["runs"][0];
  EXPECT_TRUE(run["results"].is_array());
  EXPECT_TRUE(run["results"].empty());
}

TEST(CheckFormatsTest, CodeQualityHasTheSamePlacesAsSarif) {
  const json issues = json::parse(CheckCodeQuality(WholeReport()));
  const json results = json::parse(CheckSarif(WholeReport()))["runs"][0]["results"];
  ASSERT_EQ(issues.size(), results.size());
  for (size_t i = 0; i < issues.size(); ++i) {
    EXPECT_EQ(issues[i]["check_name"], results[i]["ruleId"]);
    EXPECT_EQ(issues[i]["description"], results[i]["message"]["text"]);
    EXPECT_EQ(issues[i]["location"]["lines"]["begin"],
              results[i]["locations"][0]["physicalLocation"]["region"]["startLine"]);
    EXPECT_EQ(issues[i]["severity"], "major");
  }
  EXPECT_EQ(issues[0]["location"]["path"], "net.py");
  EXPECT_EQ(issues[2]["location"]["path"], "models/broken net.py");  // a path, not a URI
}

TEST(CheckFormatsTest, CodeQualityTellsIssuesApartAndKnowsThemAgain) {
  const auto prints = [](double latency_us, const std::string& line) {
    const std::vector<SavedCall> before = {{"a", "conv2d", "net.py:1", 1000}, {"b", "linear", "net.py:2", 1000}};
    const std::vector<SavedCall> after = {{"a", "conv2d", "net.py:" + line, latency_us},
                                          {"b", "linear", "net.py:2", 3000}};
    CheckReport report{"old", "new", {}};
    for (const char* name : {"one", "two"}) {
      report.models.push_back(Compared(name, {TargetOf("cpu", before), TargetOf("gpu", before)},
                                       {TargetOf("cpu", after), TargetOf("gpu", after)}, {{"", 2}}));
    }
    std::set<std::string> found;
    const json issues = json::parse(CheckCodeQuality(report));
    for (const json& issue : issues) found.insert(issue["fingerprint"].get<std::string>());
    EXPECT_EQ(found.size(), issues.size());
    return found;
  };
  const std::set<std::string> found = prints(2000, "1");
  EXPECT_EQ(found.size(), 8u);  // of each model two lines, and two budgets
  EXPECT_EQ(prints(2500, "7"), found);
}

TEST(CheckFormatsTest, BenchmarksHaveTheNewNumbersInTheirUnits) {
  const json entries = json::parse(CheckGithubBenchmark(WholeReport()));
  ASSERT_EQ(entries.size(), 3u);  // what is gone or cannot be read has no number
  EXPECT_EQ(entries[0]["name"], "classifier on cpu");
  EXPECT_EQ(entries[0]["unit"], "ms");
  EXPECT_EQ(entries[0]["value"], 2.5);
  EXPECT_TRUE(entries[0]["range"].is_string());
  const json metrics = json::parse(CheckBencher(WholeReport()));
  EXPECT_EQ(metrics.size(), 3u);
  const json& latency = metrics["classifier on cpu"]["latency"];
  EXPECT_DOUBLE_EQ(latency["value"], 2500000);  // nanoseconds
  EXPECT_DOUBLE_EQ(latency["lower_value"], 2250000);
  EXPECT_DOUBLE_EQ(latency["upper_value"], 2750000);
}

TEST(CheckFormatsTest, EmptyReports) {
  const CheckReport empty{"", "the working tree", {}};
  EXPECT_EQ(json::parse(CheckGithubBenchmark(empty)), json::array());
  EXPECT_EQ(json::parse(CheckBencher(empty)), json::object());
  EXPECT_EQ(json::parse(CheckJson(empty))["exit_code"], 0);
  EXPECT_THAT(CheckJunit(empty), HasSubstr("tests=\"0\""));
  EXPECT_THAT(CheckMarkdown(empty), HasSubstr("no failure"));
}

TEST(CheckFormatsTest, JunitCountsAndEscapes) {
  const std::string xml = CheckJunit(WholeReport("a<b>&\"c\"\nd\x01\xff"));
  EXPECT_THAT(xml, StartsWith("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                              "<testsuites tests=\"5\" failures=\"1\" errors=\"1\" skipped=\"1\">"));
  EXPECT_THAT(xml,
              AllOf(HasSubstr("classname=\"a&lt;b&gt;&amp;&quot;c&quot;&#10;d??\""),
                    HasSubstr("<failure type=\"slower\" message=\"cpu: 66.7 % slower"), HasSubstr("message=\"gone\""),
                    HasSubstr("TypeError: &lt;b&gt; &amp; &quot;c&quot;"), HasSubstr("time=\"0.002500000\"")));
}

TEST(CheckFormatsTest, JunitGivesNoVerdictOnWhatIsNotTrusted) {
  CheckReport report{"old", "new", {}};
  SavedTarget unsure = TargetOf("cpu", kNewCalls);
  unsure.extrapolating = true;
  report.models.push_back(Compared("m", {TargetOf("cpu", kOldCalls)}, {unsure}));
  EXPECT_THAT(CheckJunit(report),
              AllOf(HasSubstr("failures=\"0\" errors=\"1\""), HasSubstr("type=\"low-confidence\"")));
}

TEST(CheckFormatsTest, MarkdownShowsWhatFailsFirst) {
  const std::string text = CheckMarkdown(WholeReport());
  EXPECT_THAT(text, StartsWith("<!-- cobra-client -->\n### Predicted latency: 1 slower than allowed, 1 over budget, "));
  EXPECT_THAT(text, AllOf(HasSubstr("| `classifier` | `cpu` | 1.500 | 2.500 | +66.7 % | **slower than the 5 % allowed"),
                          HasSubstr("| `tagger` |  |  |  |  | gone |"), HasSubstr("**cannot be read**"),
                          HasSubstr("<details><summary>What changed most: <code>classifier</code>"),
                          HasSubstr("| `net.py:12` | 1 | 1.000 | 2.000 | +1.000 |")));
}

TEST(CheckFormatsTest, MarkdownIsNotBrokenByNames) {
  const std::string text = CheckMarkdown(WholeReport("a|b`c</summary>\n\n# d @octocat"));
  const std::string table = text.substr(0, text.find("<details>"));
  for (const char* broken : {"a|b", "b`c", "</summary>", "\n# d", "@octocat"})
    EXPECT_THAT(table, Not(HasSubstr(broken)));
  EXPECT_THAT(text, HasSubstr("<code>a&#124;b&#96;c&#60;&#47;summary&#62;  &#35; d &#64;octocat</code>"));
  EXPECT_THAT(text, HasSubstr("<code>a|b`c&#60;/summary&#62;  # d @octocat</code>"));  // in HTML
}

TEST(CheckFormatsTest, MarkdownFitsIntoAComment) {
  CheckReport report{"old", "new", {}};
  for (int i = 0; i < 1000; ++i) {
    report.models.push_back(Compared(absl::StrCat("a model with a long name, number ", i), {TargetOf("cpu", kOldCalls)},
                                     {TargetOf("cpu", kNewCalls)}));
    report.models.back().notes = {"renamed"};
  }
  const std::string text = CheckMarkdown(report);
  EXPECT_LT(text.size(), 65536u);
  EXPECT_THAT(text, AllOf(HasSubstr("and 800 more rows"), HasSubstr("do not fit"), HasSubstr("more notes")));
}

TEST(CheckFormatsTest, UnchangedModelsAreOneLineOfMarkdown) {
  CheckReport report{"old", "new", {}};
  report.models.push_back(
      Compared("m", {TargetOf("cpu", kOldCalls)}, {TargetOf("cpu", kOldCalls)}, {}, /*fingerprint=*/"old"));
  EXPECT_THAT(CheckMarkdown(report), AllOf(HasSubstr("### Predicted latency: 1 unchanged"), Not(HasSubstr("`m`")),
                                           HasSubstr("1 is the same network as before.")));
}

TEST(CheckFormatsTest, EachNameIsAFormat) {
  for (const std::string& format : CiFormats()) EXPECT_FALSE(CheckIn(format, WholeReport()).empty()) << format;
  EXPECT_EQ(CheckIn("sarif", WholeReport()), CheckSarif(WholeReport()));
  EXPECT_EQ(CheckIn("table", WholeReport()), CheckText(WholeReport()));
}

}  // namespace
}  // namespace cobra::client
