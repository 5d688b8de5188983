#include "base/diagnostic.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
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
  return {{"file", p.file}, {"line", p.line}, {"column", p.column}};
}

SourcePosition PositionFromJson(const nlohmann::json& j) {
  return {j.value("file", ""), j.value("line", 0), j.value("column", 0)};
}

std::string PositionText(const SourcePosition& p) {
  std::string text = p.file;
  if (p.line > 0) absl::StrAppend(&text, ":", p.line);
  if (p.line > 0 && p.column > 0) absl::StrAppend(&text, ":", p.column);
  return text;
}

std::string FirstLine(const Diagnostic& d) {
  std::string where = PositionText(d.position);
  return absl::StrCat(where, where.empty() ? "" : ": ", "error: ", d.message);
}

// The line itself and a caret under the column; a leading tab stays a tab so that the caret lines up.
void AppendSourceLine(const std::string& line, int column, std::string* out) {
  if (line.empty()) return;
  absl::StrAppend(out, "\n    ", line);
  if (column <= 0) return;
  std::string pad;
  for (int i = 0; i + 1 < column && i < static_cast<int>(line.size()); ++i) pad += line[i] == '\t' ? '\t' : ' ';
  absl::StrAppend(out, "\n    ", pad, "^");
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

absl::Status DiagnosticToStatus(const Diagnostic& d) {
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
                      {"frames", frames}};
  // A user's source line need not be valid UTF-8: replace rather than throw.
  status.SetPayload(kPayloadUrl, absl::Cord(j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
  return status;
}

std::optional<Diagnostic> DiagnosticFromStatus(const absl::Status& status) {
  auto payload = status.GetPayload(kPayloadUrl);
  if (!payload.has_value()) return std::nullopt;
  nlohmann::json j = nlohmann::json::parse(std::string(*payload), nullptr, /*allow_exceptions=*/false);
  if (j.is_discarded()) return std::nullopt;
  Diagnostic d;
  d.kind = DiagnosticKindFromName(j.value("kind", "")).value_or(Diagnostic::Kind::kUnsupported);
  d.message = j.value("message", "");
  d.hint = j.value("hint", "");
  d.position = PositionFromJson(j["position"]);
  d.source_line = j.value("source_line", "");
  for (const auto& f : j["frames"]) {
    d.frames.push_back({PositionFromJson(f["position"]), f.value("function", ""), f.value("source_line", "")});
  }
  return d;
}

std::string RenderDiagnostic(const Diagnostic& d) {
  std::string text = FirstLine(d);
  AppendSourceLine(d.source_line, d.position.column, &text);
  for (auto frame = d.frames.rbegin(); frame != d.frames.rend(); ++frame) {
    if (frame->function.empty()) continue;  // a syntax error has a place, but is in no call
    absl::StrAppend(&text, "\n  in ", frame->function, " (", PositionText(frame->position), ")");
  }
  if (!d.hint.empty()) absl::StrAppend(&text, "\nhint: ", d.hint);
  return text;
}

}  // namespace cobra
