#include "server/call_metadata.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/limit_message.h"
#include "base/user_error.h"
#include "nlohmann/json.hpp"
#include "proto/message_limits.h"

namespace cobra::server {
namespace {

constexpr absl::string_view kPrefix = proto::kLabelPrefix;
constexpr size_t kMaxLabels = 8, kMaxNameBytes = 64, kMaxValueBytes = 256;

absl::string_view View(grpc::string_ref text) { return {text.data(), text.size()}; }

// gRPC has refused what is no name or value of a header.
absl::Status CheckLabel(absl::string_view key, absl::string_view value) {
  const absl::string_view name = key.substr(kPrefix.size());
  if (name.empty() || absl::EndsWith(name, "-bin"))
    return UserError(Diagnostic::Kind::kUsage, absl::StrCat(key, ": is no name of a label"),
                     "use small letters, digits, \"-\", \"_\" and \".\", not ending in -bin");
  if (name.size() > kMaxNameBytes)
    return UserError(Diagnostic::Kind::kUsage, LimitMessage(absl::StrCat(kPrefix, "...: the name"),
                                                            static_cast<int64_t>(name.size()), kMaxNameBytes, "bytes"));
  if (value.size() > kMaxValueBytes)
    return UserError(
        Diagnostic::Kind::kUsage,
        LimitMessage(absl::StrCat(key, ": the value"), static_cast<int64_t>(value.size()), kMaxValueBytes, "bytes"));
  return absl::OkStatus();
}

bool IsHex(absl::string_view text, size_t size) {
  const auto digit = [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c)) || (c >= 'a' && c <= 'f');
  };
  return text.size() == size && std::all_of(text.begin(), text.end(), digit);
}

bool IsZero(absl::string_view text) { return text.find_first_not_of('0') == absl::string_view::npos; }

}  // namespace

absl::StatusOr<std::shared_ptr<const std::string>> LabelsOf(const Metadata& metadata) {
  auto it = metadata.lower_bound(grpc::string_ref(kPrefix.data(), kPrefix.size()));
  if (it == metadata.end() || !absl::StartsWith(View(it->first), kPrefix)) return nullptr;
  nlohmann::ordered_json labels;
  for (; it != metadata.end() && absl::StartsWith(View(it->first), kPrefix); ++it) {
    const absl::string_view key = View(it->first), value = View(it->second);
    if (absl::Status status = CheckLabel(key, value); !status.ok()) return status;
    if (labels.size() == kMaxLabels)
      return UserError(Diagnostic::Kind::kUsage, LimitMessage("the call", int64_t{kMaxLabels}, "labels"));
    nlohmann::ordered_json& label = labels[std::string(key.substr(kPrefix.size()))];
    if (!label.is_null()) return UserError(Diagnostic::Kind::kUsage, absl::StrCat(key, ": is given twice"));
    label = std::string(value);
  }
  return std::make_shared<const std::string>(
      labels.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace));
}

std::optional<TraceContext> TraceOf(const Metadata& metadata) {
  const auto it = metadata.find("traceparent");
  if (it == metadata.end() || it->second.size() > 512) return std::nullopt;
  const std::vector<absl::string_view> parts = absl::StrSplit(View(it->second), '-');
  // A later version may append parts; 255 is none.
  if (parts.size() < 4 || !IsHex(parts[0], 2) || parts[0] == "ff" || (parts[0] == "00" && parts.size() != 4))
    return std::nullopt;
  if (!IsHex(parts[1], 32) || IsZero(parts[1]) || !IsHex(parts[2], 16) || IsZero(parts[2]) || !IsHex(parts[3], 2))
    return std::nullopt;
  return TraceContext{std::string(parts[1]), std::string(parts[2])};
}

}  // namespace cobra::server
