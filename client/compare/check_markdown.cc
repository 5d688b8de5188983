#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/text/counted.h"
#include "base/text/utf8.h"
#include "base/text/without_escapes.h"
#include "client/compare/check_formats.h"
#include "client/compare/compare_render.h"
#include "client/compare/line_changes.h"
#include "client/terminal/text_table.h"

namespace cobra::client {
namespace {

using Status = CheckedModel::Status;

// GitHub refuses comments of more than 65,536 characters.
constexpr size_t kMostCharacters = 60000;
constexpr size_t kMostRows = 200;
constexpr double kMinListedShare = 0.01;  // of all changes of a target: a reader wants the reasons, not every ripple
constexpr int kMostNameCharacters = 200;

enum class Code { kMarkdown, kHtml };

// Names come from the user's files: as code they ping nobody and link to nothing. What has
// characters that Markdown or its tables take for their own is written in HTML, with entities.
// kHtml: where Markdown means nothing.
std::string AsCode(absl::string_view text, Code code = Code::kMarkdown) {
  std::string line = WithoutEscapes(ReplaceInvalidUtf8(text));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return absl::ascii_isspace(c); }, ' ');
  line = Shortened(line, kMostNameCharacters);
  if (line.empty()) return "";
  constexpr char kPlain[] = " -_~./(){}[]<>&\"=,:+'%@#!?;*";
  const auto is_plain = [&](char c) {
    return absl::ascii_isalnum(c) || static_cast<unsigned char>(c) >= 0x80 ||
           absl::string_view(kPlain).find(c) != absl::string_view::npos;
  };
  const bool markdown = code == Code::kMarkdown && line.front() != ' ' && line.back() != ' ';
  if (markdown && std::all_of(line.begin(), line.end(), is_plain)) return absl::StrCat("`", line, "`");
  std::string html = "<code>";
  for (const char c : line) {
    const bool as_entity = code == Code::kMarkdown ? absl::ascii_ispunct(c) : absl::string_view("&<>\"'").find(c) < 5;
    if (as_entity) {
      absl::StrAppend(&html, "&#", static_cast<int>(c), ";");
    } else {
      html += c;
    }
  }
  return absl::StrCat(html, "</code>");
}

std::string Row(const std::vector<std::string>& cells) {
  return absl::StrCat("| ", absl::StrJoin(cells, " | "), " |\n");
}

bool IsQuiet(const CheckedTarget& t) { return t.same && t.problems.empty(); }

std::string Heading(const CheckReport& report) {
  int slower = 0, over_budget = 0, without_memory = 0, unsure = 0, unreadable = 0, created = 0, gone = 0, faster = 0,
      quiet = 0;
  for (const CheckedModel& model : report.models) {
    unreadable += static_cast<int>(model.status == Status::kUnreadable);
    created += static_cast<int>(model.status == Status::kNew);
    gone += static_cast<int>(model.status == Status::kGone);
    for (const CheckedTarget& t : model.targets) {
      slower += static_cast<int>(t.Has(Problem::Kind::kSlower));
      over_budget += static_cast<int>(t.Has(Problem::Kind::kOverBudget));
      without_memory += static_cast<int>(t.Has(Problem::Kind::kDoesNotFit));
      unsure += static_cast<int>(t.Has(Problem::Kind::kUnsure));
      faster += static_cast<int>(t.has_before && t.problems.empty() && t.change.change() < -t.thresholds.noise);
      quiet += static_cast<int>(IsQuiet(t));
    }
  }
  std::vector<std::string> parts;
  const auto add = [&parts](int count, absl::string_view what) {
    if (count > 0) parts.push_back(absl::StrCat(count, " ", what));
  };
  add(slower, "slower than allowed");
  add(over_budget, "over budget");
  add(without_memory, "not fitting into memory");
  add(unsure, "not trusted");
  add(unreadable, "cannot be read");
  add(created, "new");
  add(gone, "gone");
  add(faster, "faster");
  add(quiet, "unchanged");
  return absl::StrCat("### Predicted latency: ", parts.empty() ? "no failure" : absl::StrJoin(parts, ", "), "\n\n");
}

std::string TargetRow(const CheckedModel& model, const CheckedTarget& t) {
  const std::string verdict = VerdictText(model, t);
  return Row({AsCode(model.name), AsCode(t.target()), t.has_before ? MillisecondsText(t.change.before.latency_us) : "",
              MillisecondsText(t.change.after.latency_us), t.has_before ? SignedPercent(t.change.change()) : "",
              t.problems.empty() ? verdict : absl::StrCat("**", verdict, "**")});
}

std::string Table(const CheckReport& report) {
  std::vector<std::string> rows;
  size_t quiet = 0;
  for (const CheckedModel& model : report.models) {
    if (model.targets.empty())
      rows.push_back(Row({AsCode(model.name), "", "", "", "", model.error.ok() ? "gone" : "**cannot be read**"}));
    for (const CheckedTarget& t : model.targets) {
      if (IsQuiet(t))
        ++quiet;
      else
        rows.push_back(TargetRow(model, t));
    }
  }
  std::string text;
  const size_t shown = std::min(rows.size(), kMostRows);
  if (shown > 0) {
    text = "| model | target | old ms | new ms | change | |\n|---|---|--:|--:|--:|---|\n";
    for (size_t i = 0; i < shown; ++i) text += rows[i];
    text += "\n";
  }
  if (shown < rows.size()) absl::StrAppend(&text, "and ", Counted(rows.size() - shown, "more row"), "\n\n");
  if (quiet > 0) {
    absl::StrAppend(&text, shown == 0 && quiet > 1 ? "All " : "", quiet, shown == 0 ? "" : " more",
                    quiet == 1 ? " is the same network as before.\n\n" : " are the same networks as before.\n\n");
  }
  return text;
}

std::string ChangesTable(const CheckedTarget& t, int top) {
  std::string text;
  const auto head = [](const char* what) {
    return absl::StrCat("\n| ", what, " | calls | old ms | new ms | change ms |\n|---|--:|--:|--:|--:|\n");
  };
  const auto row = [](const std::string& name, const SavedModule& before, const SavedModule& after) {
    return Row({AsCode(name), CallsText(before, after), MillisecondsText(before.latency_us),
                MillisecondsText(after.latency_us), SignedMilliseconds(after.latency_us - before.latency_us)});
  };
  double all_us = 0;
  for (const ModuleChange& module : t.change.modules) all_us += std::abs(module.change_us());
  int modules = 0, lines = 0;
  for (const ModuleChange& module : t.change.modules) {
    if (modules == top || std::abs(module.change_us()) < kMinListedShare * all_us) break;
    if (modules++ == 0) text += head("module");
    text += row(ModuleText(module), module.before, module.after);
  }
  for (const LineChange& line : LineChanges(t.change.before, t.change.after)) {
    if (lines == top || line.change_us() < kMinListedShare * all_us) break;
    if (lines++ == 0) text += head("line that became slower");
    text += row(line.place.empty() ? kUnknownLine : line.place, line.before, line.after);
  }
  return text;
}

std::string Details(const CheckReport& report, size_t most, int top) {
  std::string text;
  size_t left_out = 0;
  for (const CheckedModel& model : report.models) {
    for (const CheckedTarget& t : model.targets) {
      if (!t.has_before || t.same || !t.change.has_modules()) continue;
      const std::string table = ChangesTable(t, top);
      if (table.empty()) continue;
      std::string block = absl::StrCat("<details><summary>What changed most: ", AsCode(model.name, Code::kHtml), " on ",
                                       AsCode(t.target(), Code::kHtml), "</summary>\n", table, "\n</details>\n\n");
      if (text.size() + block.size() > most) {
        ++left_out;
      } else {
        text += block;
      }
    }
  }
  if (left_out > 0) absl::StrAppend(&text, "The details of ", left_out, " more do not fit.\n\n");
  return text;
}

}  // namespace

std::string CheckMarkdown(const CheckReport& report, int top) {
  std::string text = absl::StrCat("<!-- cobra-client -->\n", Heading(report), Table(report));
  size_t left_out = 0;
  const auto add = [&](const std::string& line) {
    if (text.size() + line.size() > kMostCharacters / 2) {
      ++left_out;
    } else {
      text += line;
    }
  };
  for (const CheckedModel& model : report.models) {
    if (!model.error.ok()) {
      add(absl::StrCat("- ", AsCode(model.name), ": ", AsCode(model.error.message()), "\n"));
    }
    for (const std::string& note : model.notes) add(absl::StrCat("- ", AsCode(model.name), ": ", AsCode(note), "\n"));
  }
  if (left_out > 0) absl::StrAppend(&text, "- and ", Counted(left_out, "more note"), "\n");
  if (text.back() == '\n' && text.size() > 1 && text[text.size() - 2] != '\n') text += "\n";
  text += Details(report, kMostCharacters - std::min(kMostCharacters, text.size()), top);
  std::string version;
  for (const CheckedModel& model : report.models) {
    if (version.empty()) version = model.model_version;
  }
  if (!report.before.empty())
    absl::StrAppend(&text, "<sub>Old: ", AsCode(report.before), ", new: ", AsCode(report.after), ". ");
  else
    text += "<sub>";
  absl::StrAppend(&text, "Predicted, not measured", version.empty() ? "" : absl::StrCat(", by ", AsCode(version)),
                  ".</sub>\n");
  return text;
}

}  // namespace cobra::client
