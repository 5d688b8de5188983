#include "base/diagnostic.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/text/counted.h"
#include "base/text/json.h"
#include "base/text/without_escapes.h"
#include "nlohmann/json.hpp"

namespace cobra {
namespace {

constexpr char kPayloadUrl[] = "type.cobra/Diagnostic";

struct KindRow {
  Diagnostic::Kind kind;
  const char* name;
  int exit_code;
  absl::StatusCode code;
};
constexpr KindRow kKinds[] = {
    {Diagnostic::Kind::kUsage, "usage", 2, absl::StatusCode::kInvalidArgument},
    {Diagnostic::Kind::kUnsupported, "unsupported", 4, absl::StatusCode::kUnimplemented},
    {Diagnostic::Kind::kDataDependent, "data_dependent", 4, absl::StatusCode::kFailedPrecondition},
    {Diagnostic::Kind::kSyntaxError, "syntax_error", 6, absl::StatusCode::kInvalidArgument},
    {Diagnostic::Kind::kModelError, "model_error", 6, absl::StatusCode::kInvalidArgument},
    {Diagnostic::Kind::kLimit, "limit", 7, absl::StatusCode::kResourceExhausted},
};

const KindRow& RowOf(Diagnostic::Kind kind) {
  for (const KindRow& row : kKinds) {
    if (row.kind == kind) return row;
  }
  return kKinds[1];
}

nlohmann::json PositionToJson(const SourcePosition& p) {
  return {{"file", p.file}, {"line", p.line}, {"column", p.column}, {"end_column", p.end_column}};
}

SourcePosition PositionFromJson(const nlohmann::json& j) {
  return {j.value("file", ""), j.value("line", 0), j.value("column", 0), j.value("end_column", 0)};
}

// A name is a part of a line: with a line end in it, a file could look like a line of a traceback.
std::string OneLine(absl::string_view name) { return absl::StrReplaceAll(name, {{"\n", "?"}}); }

std::string PositionText(const SourcePosition& p) {
  std::string text = OneLine(p.file);
  if (p.line > 0) absl::StrAppend(&text, ":", p.line);
  if (p.line > 0 && p.column > 0) absl::StrAppend(&text, ":", p.column);
  return text;
}

std::string FirstLine(const Diagnostic& d) {
  std::string where = PositionText(d.position);
  return absl::StrCat(where, where.empty() ? "" : ": ",
                      d.kind == Diagnostic::Kind::kSyntaxError ? "syntax error: " : "error: ", d.message);
}

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

int CharacterCount(absl::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuation(c); }));
}

// Appends the line without its indentation, and carets under the expression unless they would
// underline the whole line.
void AppendSourceLine(absl::string_view line, const SourcePosition& p, std::string* out) {
  const size_t indent = line.find_first_not_of(" \t\f");
  if (indent == absl::string_view::npos) return;
  const absl::string_view text = absl::StripTrailingAsciiWhitespace(line.substr(indent));
  absl::StrAppend(out, "    ", text, "\n");
  const int width = CharacterCount(text);
  const int first = p.column - 1 - static_cast<int>(indent);
  if (p.column <= 0 || first < 0 || first > width) return;
  const int last = p.end_column > p.column ? std::min(p.end_column - 1 - static_cast<int>(indent), width) : first + 1;
  if (first == 0 && last >= width && p.end_column > 0) return;
  std::string pad;
  for (char c : text) {  // a tab stays a tab so that the caret lines up
    if (static_cast<int>(pad.size()) >= first) break;
    if (!IsContinuation(c)) pad += c == '\t' ? '\t' : ' ';
  }
  pad.resize(first, ' ');
  absl::StrAppend(out, "    ", pad, std::string(std::max(last - first, 1), '^'), "\n");
}

void AppendFrame(const DiagnosticFrame& frame, std::string* out) {
  absl::StrAppend(out, "  File \"", OneLine(frame.position.file), "\", line ", frame.position.line);
  // A syntax error in an imported file has a position but no function.
  if (!frame.function.empty()) absl::StrAppend(out, ", in ", OneLine(frame.function));
  absl::StrAppend(out, "\n");
  AppendSourceLine(frame.source_line, frame.position, out);
}

bool IsSamePosition(const DiagnosticFrame& a, const DiagnosticFrame& b) {
  return a.position.file == b.position.file && a.position.line == b.position.line && a.function == b.function;
}

// Deep recursion repeats frames: show at most three equal frames in a row, and only the two ends of
// a long chain.
void AppendFrames(const std::vector<DiagnosticFrame>& frames, std::string* out) {
  constexpr size_t kEqual = 3, kFirst = 4, kLast = 12;
  absl::StrAppend(out, "Traceback (most recent call last):\n");
  std::vector<std::string> blocks;
  for (size_t i = 0; i < frames.size();) {
    size_t end = i + 1;
    while (end < frames.size() && IsSamePosition(frames[i], frames[end])) ++end;
    for (size_t k = i; k < std::min(end, i + kEqual); ++k) AppendFrame(frames[k], &blocks.emplace_back());
    if (end - i > kEqual)
      blocks.push_back(absl::StrCat("  [Previous line repeated ", Counted(end - i - kEqual, "more time"), "]\n"));
    i = end;
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks.size() > kFirst + kLast && i == kFirst) {
      i = blocks.size() - kLast;
      absl::StrAppend(out, "  [", i - kFirst, " calls left out]\n");
    }
    absl::StrAppend(out, blocks[i]);
  }
}

}  // namespace

absl::string_view DiagnosticKindName(Diagnostic::Kind kind) { return RowOf(kind).name; }

std::optional<Diagnostic::Kind> DiagnosticKindFromName(absl::string_view name) {
  for (const KindRow& row : kKinds) {
    if (name == row.name) return row.kind;
  }
  return std::nullopt;
}

int DiagnosticExitCode(Diagnostic::Kind kind) { return RowOf(kind).exit_code; }

namespace {
// Text from a user may have any length; a message keeps only its beginning.
void Cut(std::string* text) {
  constexpr size_t kLongest = 2000;
  if (text->size() <= kLongest) return;
  size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>((*text)[end]) & 0xc0) == 0x80) --end;  // not inside a UTF-8 character
  text->resize(end);
  text->append(" ...");
}

// Of a path the end says most.
void CutPath(std::string* path) {
  constexpr size_t kLongest = 500;
  if (path->size() <= kLongest) return;
  size_t begin = path->size() - kLongest;
  while (begin < path->size() && IsContinuation((*path)[begin])) ++begin;
  *path = absl::StrCat("...", absl::string_view(*path).substr(begin));
}
}  // namespace

absl::Status DiagnosticToStatus(const Diagnostic& diagnostic) {
  Diagnostic d = diagnostic;
  for (std::string* text : {&d.message, &d.hint, &d.source_line, &d.module_path, &d.missing_module}) Cut(text);
  CutPath(&d.position.file);
  for (DiagnosticFrame& f : d.frames) {
    CutPath(&f.position.file);
    Cut(&f.source_line);
    Cut(&f.function);
  }
  absl::Status status(RowOf(d.kind).code, FirstLine(d));
  nlohmann::json frames = nlohmann::json::array();
  for (const DiagnosticFrame& f : d.frames) {
    frames.push_back(
        {{"position", PositionToJson(f.position)}, {"function", f.function}, {"source_line", f.source_line}});
  }
  nlohmann::json j = {{"kind", RowOf(d.kind).name},
                      {"message", d.message},
                      {"hint", d.hint},
                      {"position", PositionToJson(d.position)},
                      {"source_line", d.source_line},
                      {"frames", frames},
                      {"module_path", d.module_path},
                      {"example_inputs", d.example_inputs},
                      {"missing_module", d.missing_module}};
  // A user's source line need not be valid UTF-8: replace rather than throw.
  status.SetPayload(kPayloadUrl, absl::Cord(j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
  return status;
}

std::optional<Diagnostic> DiagnosticFromStatus(const absl::Status& status) {
  auto payload = status.GetPayload(kPayloadUrl);
  if (!payload.has_value()) return std::nullopt;
  nlohmann::json j = ParseJson<nlohmann::json>(std::string(*payload));
  if (j.is_discarded()) return std::nullopt;
  Diagnostic d;
  d.kind = DiagnosticKindFromName(j.value("kind", "")).value_or(Diagnostic::Kind::kUnsupported);
  d.message = j.value("message", "");
  d.hint = j.value("hint", "");
  d.position = PositionFromJson(j["position"]);
  d.source_line = j.value("source_line", "");
  d.module_path = j.value("module_path", "");
  d.example_inputs = j.value("example_inputs", "");
  d.missing_module = j.value("missing_module", "");
  for (const auto& f : j["frames"]) {
    d.frames.push_back({PositionFromJson(f["position"]), f.value("function", ""), f.value("source_line", "")});
  }
  return d;
}

std::string RenderDiagnostic(const Diagnostic& d) {
  std::string text;
  if (!d.frames.empty()) {
    AppendFrames(d.frames, &text);
  } else if (d.position.line > 0 && !d.source_line.empty()) {
    AppendFrame({d.position, "", d.source_line}, &text);
  }
  absl::StrAppend(&text, FirstLine(d));
  if (!d.module_path.empty()) absl::StrAppend(&text, "\nin module ", OneLine(d.module_path));
  if (!d.hint.empty()) absl::StrAppend(&text, "\nhint: ", d.hint);
  return WithoutEscapes(text);
}

}  // namespace cobra
