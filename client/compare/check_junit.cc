#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/utf8.h"
#include "client/answer/exit_code.h"
#include "client/compare/check_formats.h"
#include "client/compare/compare_render.h"
#include "client/terminal/text_table.h"

namespace cobra::client {
namespace {

using Status = CheckedModel::Status;

// Text of an attribute or an element. Characters that XML 1.0 does not have become '?'.
std::string Xml(absl::string_view text) {
  const std::string valid = ReplaceInvalidUtf8(text);
  std::string escaped;
  for (size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    const bool is_noncharacter = absl::string_view(valid).substr(i, 3) == "\xEF\xBF\xBE" ||
                                 absl::string_view(valid).substr(i, 3) == "\xEF\xBF\xBF";
    if (is_noncharacter) {
      escaped += '?';
      i += 2;
    } else if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else if (c == '\n' || c == '\t' || c == '\r') {
      absl::StrAppend(&escaped, "&#", static_cast<int>(c), ";");  // an attribute would turn it into a blank
    } else {
      escaped += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return escaped;
}

struct Counts {
  int tests = 0, failures = 0, errors = 0, skipped = 0;
  std::string Attributes() const {
    return absl::StrFormat("tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\"", tests, failures, errors,
                           skipped);
  }
};

std::string Element(absl::string_view name, absl::string_view type, absl::string_view message,
                    absl::string_view text = "") {
  return absl::StrCat("   <", name, " type=\"", Xml(type), "\" message=\"", Xml(message), "\">", Xml(text), "</", name,
                      ">\n");
}

std::string CaseBegin(const CheckedModel& model, absl::string_view name) {
  return absl::StrCat("  <testcase classname=\"", Xml(model.name), "\" name=\"", Xml(name), "\" file=\"",
                      Xml(model.file), "\"");
}

std::string TargetCase(const CheckedModel& model, const CheckedTarget& t, Counts* counts) {
  ++counts->tests;
  // The time of a test case is the predicted latency: Jenkins draws its history.
  std::string text =
      absl::StrCat(CaseBegin(model, t.target()), absl::StrFormat(" time=\"%.9f\">\n", t.change.after.latency_us / 1e6));
  std::string output = absl::StrCat("new ", MillisecondsText(t.change.after.latency_us), " ms");
  if (t.has_before) {
    output = absl::StrCat("old ", MillisecondsText(t.change.before.latency_us), " ms, ", output, ", change ",
                          SignedPercent(t.change.change()), ": ", VerdictText(model, t));
    if (!t.same && t.change.has_modules()) absl::StrAppend(&output, "\n", ModulesText(t.change, kListedChanges));
  }
  // A case has one outcome: where the prediction is not trusted, there is no verdict on its
  // latency.
  std::string failures;
  for (const Problem& problem : t.problems) absl::StrAppend(&failures, failures.empty() ? "" : "; ", problem.text);
  if (t.Has(Problem::Kind::kUnsure)) {
    ++counts->errors;
    absl::StrAppend(&text, Element("error", "low-confidence", failures, output));
  } else if (!t.problems.empty()) {
    ++counts->failures;
    absl::StrAppend(&text,
                    Element("failure", t.Has(Problem::Kind::kSlower) ? "slower" : "over-budget", failures, output));
  }
  if (t.problems.empty()) absl::StrAppend(&text, "   <system-out>", Xml(output), "</system-out>\n");
  return absl::StrCat(text, "  </testcase>\n");
}

std::string ModelCases(const CheckedModel& model, Counts* counts) {
  std::string text;
  for (const CheckedTarget& t : model.targets) absl::StrAppend(&text, TargetCase(model, t, counts));
  if (!model.targets.empty()) return text;
  ++counts->tests;
  absl::StrAppend(&text, CaseBegin(model, "latency"), ">\n");
  if (!model.error.ok()) {
    ++counts->errors;
    const std::string error = ErrorText(model.error);
    absl::StrAppend(&text, Element("error", "unreadable", model.error.message(), error));
  } else {
    ++counts->skipped;
    absl::StrAppend(&text, "   <skipped message=\"gone\"/>\n");
  }
  return absl::StrCat(text, "  </testcase>\n");
}

}  // namespace

std::string CheckJunit(const CheckReport& report) {
  Counts counts;
  std::string cases;
  for (const CheckedModel& model : report.models) absl::StrAppend(&cases, ModelCases(model, &counts));
  return absl::StrCat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites ", counts.Attributes(),
                      ">\n <testsuite name=\"cobra-client\" ", counts.Attributes(), ">\n", cases,
                      " </testsuite>\n</testsuites>\n");
}

}  // namespace cobra::client
