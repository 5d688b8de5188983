#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/json.h"
#include "base/text/without_escapes.h"
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
using Status = CheckedModel::Status;

std::string ConfidenceText(const CheckedTarget& t) {
  const std::string after = absl::StrFormat("%.2f", t.change.after.confidence);
  return t.has_before ? absl::StrFormat("%.2f, %s", t.change.before.confidence, after) : after;
}

std::string LinesText(const CheckedTarget& t, int top) {
  const std::vector<LineChange> lines = LineChanges(t.change.before, t.change.after);
  std::vector<std::vector<std::string>> rows = {{"change ms", "old ms", "new ms", "calls", "line"}};
  for (const LineChange& line : lines) {
    if (static_cast<int>(rows.size()) > top || line.change_us() <= 0) break;  // the largest come first
    rows.push_back({SignedMilliseconds(line.change_us()), MillisecondsText(line.before.latency_us),
                    MillisecondsText(line.after.latency_us), CallsText(line.before, line.after),
                    line.place.empty() ? kUnknownLine : line.place});
  }
  if (rows.size() == 1) return "";
  return absl::StrCat("\n", t.target(), ": lines that became slower\n",
                      TextTable(rows, {true, true, true, true, false}));
}

std::string StatusName(Status status) {
  switch (status) {
    case Status::kCompared: return "compared";
    case Status::kNew: return "new";
    case Status::kGone: return "gone";
    case Status::kUnreadable: return "unreadable";
    case Status::kPredicted: break;
  }
  return "predicted";
}

Json TargetJsonOf(const CheckedModel& model, const CheckedTarget& t) {
  Json j;
  if (t.has_before) {
    j = TargetChangeJson(t.change);
    j["lines"] = Json::array();
    for (const LineChange& line : LineChanges(t.change.before, t.change.after)) {
      j["lines"].push_back({{"where", line.place},
                            {"module", line.module},
                            {"old_calls", line.before.calls},
                            {"new_calls", line.after.calls},
                            {"old_latency_us", line.before.latency_us},
                            {"new_latency_us", line.after.latency_us}});
    }
  } else {
    const SavedTarget& after = t.change.after;
    j = {{"target", after.target},     {"device", after.device},       {"new_latency_us", after.latency_us},
         {"new_low_us", after.low_us}, {"new_high_us", after.high_us}, {"new_confidence", after.confidence}};
  }
  j["same_network"] = t.same_network;
  if (t.budget_ms > 0) j["budget_ms"] = t.budget_ms;
  j["max_increase"] = t.thresholds.max_increase;
  j["noise"] = t.thresholds.noise;
  j["verdict"] = VerdictText(model, t);
  j["problems"] = Json::array();
  for (const Problem& problem : t.problems) j["problems"].push_back(problem.text);
  return j;
}

}  // namespace

std::string CheckText(const CheckReport& report, int top) {
  std::string text;
  if (!report.before.empty()) absl::StrAppend(&text, "old: ", report.before, "\nnew: ", report.after, "\n\n");
  std::vector<std::vector<std::string>> rows = {{"model", "target", "old ms", "new ms", "change", "confidence", ""}};
  for (const CheckedModel& model : report.models) {
    if (model.targets.empty())
      rows.push_back({model.name, "", "", "", "", "", model.error.ok() ? "gone" : "cannot be read"});
    for (const CheckedTarget& t : model.targets) {
      rows.push_back({model.name, t.target(), t.has_before ? MillisecondsText(t.change.before.latency_us) : "-",
                      MillisecondsText(t.change.after.latency_us), t.has_before ? SignedPercent(t.change.change()) : "",
                      ConfidenceText(t), VerdictText(model, t)});
    }
  }
  absl::StrAppend(&text, TextTable(rows, {false, false, true, true, true, true, false}));
  for (const CheckedModel& model : report.models) {
    for (const std::string& note : model.notes) absl::StrAppend(&text, model.name, ": ", note, "\n");
  }
  for (const CheckedModel& model : report.models) {
    for (const CheckedTarget& t : model.targets) {
      if (!t.has_before || t.same || !t.change.has_modules()) continue;
      if (report.models.size() > 1) absl::StrAppend(&text, "\n", model.name);
      absl::StrAppend(&text, ModulesText(t.change, top), LinesText(t, top));
    }
  }
  return WithoutEscapes(text);
}

std::string CheckJson(const CheckReport& report) {
  Json j = {
      {"old", report.before}, {"new", report.after}, {"exit_code", ReportExitCode(report)}, {"models", Json::array()}};
  for (const CheckedModel& model : report.models) {
    Json m = {{"model", model.name},     {"file", model.file},
              {"line", model.line},      {"status", StatusName(model.status)},
              {"notes", model.notes},    {"model_version", model.model_version},
              {"targets", Json::array()}};
    for (const CheckedTarget& t : model.targets) m["targets"].push_back(TargetJsonOf(model, t));
    if (!model.error.ok()) m["error"] = ParseJson<Json>(ErrorJson(model.error))["error"];
    j["models"].push_back(std::move(m));
  }
  return IndentedJson(j);
}

const std::vector<std::string>& CiFormats() {
  static const auto* const kFormats =
      new std::vector<std::string>{"markdown", "junit", "sarif", "code-quality", "github-benchmark", "bencher"};
  return *kFormats;
}

std::string CheckIn(absl::string_view format, const CheckReport& report, int top) {
  if (format == "json") return CheckJson(report);
  if (format == "markdown") return CheckMarkdown(report, top);
  if (format == "junit") return CheckJunit(report);
  if (format == "sarif") return CheckSarif(report);
  if (format == "code-quality") return CheckCodeQuality(report);
  if (format == "github-benchmark") return CheckGithubBenchmark(report);
  if (format == "bencher") return CheckBencher(report);
  return CheckText(report, top);
}

}  // namespace cobra::client
