#include "server/http/error_reply.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/diagnostic.h"
#include "base/retry_delay.h"
#include "nlohmann/json.hpp"

namespace cobra::http {
namespace {

using Json = nlohmann::ordered_json;

void AddUnlessEmpty(const char* key, const std::string& value, Json* json) {
  if (!value.empty()) (*json)[key] = value;
}

Json PositionJson(const SourcePosition& position) {
  Json json = {{"file", position.file}};
  if (position.line > 0) json["line"] = position.line;
  if (position.column > 0) json["column"] = position.column;
  if (position.end_column > 0) json["end_column"] = position.end_column;
  return json;
}

void AddDiagnostic(const Diagnostic& diagnostic, Json* error) {
  (*error)["message"] = diagnostic.message;
  (*error)["kind"] = std::string(DiagnosticKindName(diagnostic.kind));
  AddUnlessEmpty("hint", diagnostic.hint, error);
  if (!diagnostic.position.file.empty()) (*error)["where"] = PositionJson(diagnostic.position);
  AddUnlessEmpty("source_line", diagnostic.source_line, error);
  for (const DiagnosticFrame& frame : diagnostic.frames) {
    Json json = {{"where", PositionJson(frame.position)}, {"function", frame.function}};
    AddUnlessEmpty("source_line", frame.source_line, &json);
    (*error)["frames"].push_back(std::move(json));
  }
  AddUnlessEmpty("module_path", diagnostic.module_path, error);
  AddUnlessEmpty("missing_module", diagnostic.missing_module, error);
}

}  // namespace

int HttpStatusOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk: return 200;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange: return 400;
    case absl::StatusCode::kFailedPrecondition: return DiagnosticFromStatus(status).has_value() ? 422 : 400;
    case absl::StatusCode::kUnauthenticated: return 401;
    case absl::StatusCode::kPermissionDenied: return 403;
    case absl::StatusCode::kNotFound: return 404;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted: return 409;
    case absl::StatusCode::kResourceExhausted: return DiagnosticFromStatus(status).has_value() ? 422 : 429;
    case absl::StatusCode::kCancelled: return 499;
    case absl::StatusCode::kUnimplemented: return DiagnosticFromStatus(status).has_value() ? 422 : 501;
    case absl::StatusCode::kUnavailable: return 503;
    case absl::StatusCode::kDeadlineExceeded: return 504;
    default: return 500;
  }
}

Reply ErrorReply(const absl::Status& status) { return ErrorReply(HttpStatusOf(status), status); }

Reply ErrorReply(int http_status, const absl::Status& status) {
  Json error = {{"code", absl::StatusCodeToString(status.code())}, {"message", std::string(status.message())}};
  if (const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status)) AddDiagnostic(*diagnostic, &error);
  Reply reply;
  reply.status = http_status;
  reply.content_type = "application/json";
  if (const std::optional<absl::Duration> delay = RetryDelayOf(status)) {
    error["retry_after_ms"] = absl::ToInt64Milliseconds(*delay);
    reply.headers.emplace_back("Retry-After", absl::StrCat(absl::ToInt64Seconds(absl::Ceil(*delay, absl::Seconds(1)))));
  }
  if (http_status == 401) reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  reply.body = absl::StrCat(Json{{"error", error}}.dump(1, ' ', false, Json::error_handler_t::replace), "\n");
  return reply;
}

}  // namespace cobra::http
