#include "client/answer/exit_code.h"

#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "base/diagnostic.h"
#include "base/file/doc_path.h"
#include "base/text/without_escapes.h"
#include "client/terminal/output.h"
#include "client/terminal/text_table.h"
#include "nlohmann/json.hpp"
#include "proto/request_words.h"

namespace cobra::client {

int ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return kExitOk;
  if (std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status)) return DiagnosticExitCode(diagnostic->kind);
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied: return kExitUsage;
    case absl::StatusCode::kResourceExhausted:  // a full queue, a message too large
    case absl::StatusCode::kDeadlineExceeded: return kExitLimit;
    default: return kExitUnavailable;
  }
}

namespace {

// The hint for an error that is not a Diagnostic.
std::string HintOf(const absl::Status& status) {
  if (absl::IsUnauthenticated(status))
    return absl::StrCat("give the token that the server's operator made for you: --token-file FILE (",
                        DocPath("docs/security.md"), ")");
  if (!absl::IsUnavailable(status) || absl::StartsWith(status.message(), "the server at ")) return "";
  if (absl::StrContains(status.message(), "Socket closed"))
    return "something listens there but closes the connection, as a server with TLS does: give its certificate "
           "authority, --tls-ca FILE";
  if (absl::StrContains(status.message(), "wrong version number")) return "the server does not use TLS: omit --tls-ca";
  if (absl::StrContains(status.message(), "certificate verify failed"))
    return "the server's certificate is not signed by the authority in --tls-ca, or has expired: ask its operator";
  return "start it there (cobra-server), name a running one (--server HOST:PORT, with --tls-ca if it has TLS), or omit "
         "--server (COBRA_SERVER) and --no-start to have one started for you. cobra-client doctor shows what is wrong";
}

}  // namespace

std::string ErrorText(const absl::Status& status) {
  std::string text;
  if (std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(proto::InFlagNames(status))) {
    // Readers and servers name our pages as the repository has them.
    diagnostic->hint = WithDocPaths(diagnostic->hint);
    text = RenderDiagnostic(*diagnostic);
  } else {
    const std::string hint = HintOf(status);
    text = absl::StrCat("error: ", status.message(), hint.empty() ? "" : "\nhint: ", hint);
  }
  return absl::StartsWith(text, "error: ") ? absl::StrCat("cobra-client: ", text) : text;
}

namespace {

// Characters of a reason: a row may name a file of any length.
constexpr int kMostWhy = 2000;

std::string OneLine(absl::string_view text) {
  return WithoutEscapes(absl::StrReplaceAll(text, {{"\r", " "}, {"\n", " "}, {"\t", " "}}));
}

}  // namespace

std::string WhyText(const absl::Status& why) {
  std::string text(why.message());
  if (const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(proto::InFlagNames(why))) {
    text = std::string(DiagnosticToStatus(*diagnostic).message());
    if (!diagnostic->hint.empty()) absl::StrAppend(&text, "; hint: ", diagnostic->hint);
  }
  if (text.empty()) text = absl::StatusCodeToString(why.code());
  return Shortened(OneLine(absl::StripPrefix(text, "error: ")), kMostWhy);
}

std::string ErrorJson(const absl::Status& status) {
  nlohmann::json error = {{"status", std::string(absl::StatusCodeToString(status.code()))},
                          {"exit_code", ExitCodeOf(status)}};
  if (std::optional<Diagnostic> d = DiagnosticFromStatus(proto::InFlagNames(status))) {
    nlohmann::json frames = nlohmann::json::array();
    for (const DiagnosticFrame& frame : d->frames) {
      frames.push_back({{"file", frame.position.file},
                        {"line", frame.position.line},
                        {"function", frame.function},
                        {"source_line", frame.source_line}});
    }
    error.update({{"kind", std::string(DiagnosticKindName(d->kind))},
                  {"message", d->message},
                  {"hint", WithDocPaths(d->hint)},
                  {"file", d->position.file},
                  {"line", d->position.line},
                  {"column", d->position.column},
                  {"end_column", d->position.end_column},
                  {"module", d->module_path},
                  {"missing_module", d->missing_module},
                  {"source_line", d->source_line},
                  {"frames", std::move(frames)}});
  } else {
    error["kind"] = "status";
    error["message"] = std::string(status.message());
    error["hint"] = std::string(HintOf(status));
  }
  return IndentedJson(nlohmann::json{{"error", std::move(error)}});
}

}  // namespace cobra::client
