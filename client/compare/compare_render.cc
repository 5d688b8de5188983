#include "client/compare/compare_render.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/text/without_escapes.h"
#include "client/answer/unknown.h"
#include "client/terminal/text_table.h"

namespace cobra::client {
namespace {

using Json = nlohmann::ordered_json;

std::string Interval(const SavedTarget& t) {
  if (t.extrapolating) return GuessText(t.low_us, t.high_us);
  return absl::StrCat(MillisecondsText(t.low_us), " ... ", MillisecondsText(t.high_us));
}

}  // namespace

std::string SignedPercent(double fraction) { return absl::StrFormat("%+.1f %%", 100 * fraction); }
std::string SignedMilliseconds(double us) { return absl::StrFormat("%+.3f", us / 1000); }

std::string CallsText(const SavedModule& before, const SavedModule& after) {
  if (before.calls == after.calls) return absl::StrCat(after.calls);
  return absl::StrCat(before.calls, " -> ", after.calls);
}

std::string ModuleText(const ModuleChange& m) {
  const std::string path = m.path.empty() ? "(the model's own calls)" : m.path;
  return m.alike > 1 ? absl::StrCat(m.alike, " x ", path) : path;
}

namespace {

// "old.json"; where the two are of different models also of which: "old.json: Net(width=64) from
// net.py, 1x3x64x64".
std::string NameOf(const SavedPrediction& saved, bool says_model) {
  if (!says_model) return saved.name;
  std::map<std::string, std::string> of(saved.question.begin(), saved.question.end());
  std::string model =
      absl::StrCat(of["entry"], of["entry"].empty() || of["model"].empty() ? "" : " from ", of["model"], of["arch"]);
  const std::string inputs = absl::StrReplaceAll(of["inputs"], {{"[", ""}, {"]", ""}, {"\"", ""}, {",", ", "}});
  if (!inputs.empty()) absl::StrAppend(&model, ", ", inputs);
  if (of["mode"] == "train") absl::StrAppend(&model, ", in training, forward only");
  return absl::StrCat(saved.name, ": ", model);
}

// Red where it is slower than allowed, green where it is faster.
std::string PaintedChange(const Painter& paint, const TargetChange& t, const std::string& text) {
  constexpr double kShownChange = 0.0005;
  return t.regressed ? paint.Bad(text) : t.change() < -kShownChange ? paint.Good(text) : text;
}

}  // namespace

std::string ModulesText(const TargetChange& t, int top, const TerminalStyle& style) {
  const Painter paint(style.color);
  const size_t shown = std::min(t.modules.size(), static_cast<size_t>(top));
  std::string text =
      absl::StrCat("\n", paint.Heading(absl::StrCat(t.after.target, ": modules that changed most")), "\n");
  if (shown == 0) return absl::StrCat("\n", t.after.target, ": no module changed\n");
  std::vector<std::vector<std::string>> rows = {{"change ms", "old ms", "new ms", "calls", "module"}};
  for (size_t i = 0; i < shown; ++i) {
    const ModuleChange& m = t.modules[i];
    rows.push_back({SignedMilliseconds(m.change_us()), MillisecondsText(m.before.latency_us),
                    MillisecondsText(m.after.latency_us), CallsText(m.before, m.after), ModuleText(m)});
  }
  const auto painted = [&](size_t row, size_t column, const std::string& cell) {
    if (row == 0) return paint.Dim(cell);
    if (column > 0) return cell;
    return t.modules[row - 1].change_us() > 0 ? paint.Bad(cell) : paint.Good(cell);
  };
  absl::StrAppend(&text, TextTable(rows, {{true}, {true}, {true}, {true}, {.min_width = 24, .keep_both = true}},
                                   style.width, painted));
  if (shown < t.modules.size()) absl::StrAppend(&text, "and ", t.modules.size() - shown, " more\n");
  return text;
}

namespace {

std::string NoteOf(const TargetChange& t, double max_increase) {
  std::vector<std::string> notes;
  if (t.is_guess()) notes.emplace_back("a guess");
  if (t.regressed) notes.push_back(absl::StrFormat("slower than the %g %% allowed", 100 * max_increase));
  if (!t.after.lacks_memory.empty()) notes.push_back(t.after.lacks_memory);
  return absl::StrJoin(notes, ", ");
}

std::string ChangesTable(const Comparison& c, const TerminalStyle& style) {
  const Painter paint(style.color);
  std::vector<std::vector<std::string>> rows = {
      {"target", "old ms", "new ms", "change", "old interval ms", "new interval ms", "confidence", ""}};
  for (const TargetChange& t : c.targets) {
    rows.push_back({t.after.target, MillisecondsText(t.before.latency_us), MillisecondsText(t.after.latency_us),
                    SignedPercent(t.change()), Interval(t.before), Interval(t.after),
                    absl::StrFormat("%.2f, %.2f", t.before.confidence, t.after.confidence), NoteOf(t, c.max_increase)});
  }
  const auto painted = [&](size_t row, size_t column, const std::string& cell) {
    if (row == 0) return paint.Dim(cell);
    const TargetChange& t = c.targets[row - 1];
    switch (column) {
      case 3: return PaintedChange(paint, t, cell);
      case 4: return t.before.extrapolating ? paint.Doubt(cell) : cell;
      case 5: return t.after.extrapolating ? paint.Doubt(cell) : cell;
      case 6: return PaintedConfidence(paint, std::min(t.before.confidence, t.after.confidence), cell);
      case 7: return paint.Bad(cell);
      default: return cell;
    }
  };
  const std::vector<Column> columns = {
      {.min_width = 16, .keep_both = true}, {true}, {true},         {true}, {.right = true, .leave_out = 2},
      {.right = true, .leave_out = 1},      {true}, {.below = true}};
  return TextTable(rows, columns, style.width, painted);
}

}  // namespace

std::string ComparisonText(const Comparison& c, int top, const TerminalStyle& style) {
  const bool says_models = c.before.question != c.after.question;
  std::string text = WithoutEscapes(
      absl::StrCat("old: ", NameOf(c.before, says_models), "\nnew: ", NameOf(c.after, says_models), "\n"));
  if (c.same_network()) absl::StrAppend(&text, "the networks are the same\n");
  if (c.before.model_version != c.after.model_version) {
    absl::StrAppend(&text, Painter(style.color).Doubt("warning:"), " two versions of the weights (",
                    WithoutEscapes(c.before.model_version), " and ", WithoutEscapes(c.after.model_version),
                    ") may explain part of the change; predict the old model again\n");
  }
  absl::StrAppend(&text, "\n", ChangesTable(c, style));
  for (const TargetChange& t : c.targets) {
    if (t.has_modules()) absl::StrAppend(&text, ModulesText(t, top, style));
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

Json TargetChangeJson(const TargetChange& t) {
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
  return target;
}

Json ComparisonJson(const Comparison& c) {
  Json j = {{"old", {{"name", c.before.name}, {"model_version", c.before.model_version}}},
            {"new", {{"name", c.after.name}, {"model_version", c.after.model_version}}},
            {"max_increase", c.max_increase},
            {"regressed", c.regressed()},
            {"same_network", c.same_network()},
            {"targets", Json::array()},
            {"only_in_old", c.only_before}};
  for (const TargetChange& t : c.targets) j["targets"].push_back(TargetChangeJson(t));
  return j;
}

}  // namespace cobra::client
