#include "proto/status_proto.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/retry_delay.h"
#include "base/text/utf8.h"

namespace cobra::proto {
namespace {

// protobuf refuses to send strings that are not UTF-8, but a user's source line may contain any
// bytes: hence ReplaceInvalidUtf8.

void PositionToProto(const SourcePosition& position, v1::SourcePosition* proto) {
  proto->set_file(ReplaceInvalidUtf8(position.file));
  proto->set_line(position.line);
  proto->set_column(position.column);
  proto->set_end_column(position.end_column);
}

SourcePosition PositionFromProto(const v1::SourcePosition& proto) {
  return {proto.file(), proto.line(), proto.column(), proto.end_column()};
}

// Trailers are bounded (8 KB by default in most clients): a deep call chain keeps its ends, a long
// line its beginning. Paths were cut when the status was made (DiagnosticToStatus).
void BoundForTrailer(v1::ErrorDetail* detail) {
  constexpr int kMaxFrames = 20;
  constexpr size_t kMaxBytes = 4000;
  constexpr size_t kMaxLineBytes = 160;
  constexpr size_t kMaxTextBytes = 1000;
  const auto bound = [](std::string* text, size_t max_bytes) {
    if (text->size() > max_bytes) *text = ReplaceInvalidUtf8(absl::StrCat(text->substr(0, max_bytes - 3), "..."));
  };
  if (detail->frames_size() > kMaxFrames) {
    detail->mutable_frames()->DeleteSubrange(kMaxFrames / 2, detail->frames_size() - kMaxFrames);
  }
  bound(detail->mutable_message(), kMaxTextBytes);
  bound(detail->mutable_hint(), kMaxTextBytes);
  bound(detail->mutable_module_path(), kMaxLineBytes);
  bound(detail->mutable_missing_module(), kMaxLineBytes);
  bound(detail->mutable_source_line(), kMaxLineBytes);
  for (v1::ErrorFrame& frame : *detail->mutable_frames()) {
    bound(frame.mutable_source_line(), kMaxLineBytes);
    bound(frame.mutable_function(), kMaxLineBytes);
  }
  while (detail->ByteSizeLong() > kMaxBytes && detail->frames_size() > 0)
    detail->mutable_frames()->DeleteSubrange(detail->frames_size() / 2, 1);
}

// Of another package than the message's own, so that gRPC's tools know it.
constexpr char kRetryInfoType[] = "type.googleapis.com/google.rpc.RetryInfo";

v1::RetryInfo RetryInfoOf(absl::Duration delay) {
  v1::RetryInfo info;
  const int64_t nanoseconds = absl::ToInt64Nanoseconds(delay);
  info.mutable_retry_delay()->set_seconds(nanoseconds / 1'000'000'000);
  info.mutable_retry_delay()->set_nanos(static_cast<int32_t>(nanoseconds % 1'000'000'000));
  return info;
}

// A server that asks for more is not obeyed.
absl::Duration DelayOf(const v1::RetryInfo& info) {
  const absl::Duration delay =
      absl::Seconds(info.retry_delay().seconds()) + absl::Nanoseconds(info.retry_delay().nanos());
  return std::clamp(delay, absl::ZeroDuration(), absl::Hours(1));
}

}  // namespace

void DiagnosticToProto(const Diagnostic& d, v1::ErrorDetail* proto) {
  // KIND_SYNTAX_ERROR is DiagnosticKindName's "syntax_error" in capitals.
  v1::ErrorDetail::Kind kind = v1::ErrorDetail::KIND_UNSPECIFIED;
  v1::ErrorDetail::Kind_Parse(absl::StrCat("KIND_", absl::AsciiStrToUpper(DiagnosticKindName(d.kind))), &kind);
  proto->set_kind(kind);
  proto->set_message(ReplaceInvalidUtf8(d.message));
  proto->set_hint(ReplaceInvalidUtf8(d.hint));
  proto->set_module_path(ReplaceInvalidUtf8(d.module_path));
  proto->set_missing_module(ReplaceInvalidUtf8(d.missing_module));
  PositionToProto(d.position, proto->mutable_position());
  proto->set_source_line(ReplaceInvalidUtf8(d.source_line));
  for (const DiagnosticFrame& frame : d.frames) {
    v1::ErrorFrame* out = proto->add_frames();
    PositionToProto(frame.position, out->mutable_position());
    out->set_function(ReplaceInvalidUtf8(frame.function));
    out->set_source_line(ReplaceInvalidUtf8(frame.source_line));
  }
}

Diagnostic DiagnosticFromProto(const v1::ErrorDetail& proto) {
  Diagnostic d;
  absl::string_view name = v1::ErrorDetail::Kind_Name(proto.kind());
  if (absl::StartsWith(name, "KIND_")) name.remove_prefix(5);
  d.kind = DiagnosticKindFromName(absl::AsciiStrToLower(name)).value_or(Diagnostic::Kind::kUnsupported);
  d.message = proto.message();
  d.hint = proto.hint();
  d.module_path = proto.module_path();
  d.missing_module = proto.missing_module();
  d.position = PositionFromProto(proto.position());
  d.source_line = proto.source_line();
  for (const v1::ErrorFrame& frame : proto.frames()) {
    d.frames.push_back({PositionFromProto(frame.position()), frame.function(), frame.source_line()});
  }
  return d;
}

void StatusToProto(const absl::Status& status, v1::RpcStatus* proto) {
  proto->set_code(static_cast<int>(status.code()));
  proto->set_message(ReplaceInvalidUtf8(status.message().substr(0, 1000)));
  if (const std::optional<absl::Duration> delay = RetryDelayOf(status)) {
    google::protobuf::Any* any = proto->add_details();
    any->set_type_url(kRetryInfoType);
    any->set_value(RetryInfoOf(*delay).SerializeAsString());
  }
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  if (!diagnostic.has_value()) return;
  v1::ErrorDetail detail;
  DiagnosticToProto(*diagnostic, &detail);
  BoundForTrailer(&detail);
  proto->add_details()->PackFrom(detail);
}

absl::Status StatusFromProto(const v1::RpcStatus& proto) {
  absl::Status status(static_cast<absl::StatusCode>(proto.code()), proto.message());
  for (const auto& any : proto.details()) {
    v1::RetryInfo retry;
    if (any.type_url() == kRetryInfoType && retry.ParseFromString(any.value()) && !status.ok())
      status = WithRetryDelay(std::move(status), DelayOf(retry));
    v1::ErrorDetail detail;
    if (!any.UnpackTo(&detail)) continue;
    DiagnosticToStatus(DiagnosticFromProto(detail))
        .ForEachPayload(
            [&status](absl::string_view url, const absl::Cord& payload) { status.SetPayload(url, payload); });
    break;
  }
  return status;
}

}  // namespace cobra::proto
