#include "server/lanes/call_metadata.h"

#include <iterator>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/text/hex_digits.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "nlohmann/json.hpp"
#include "proto/label.h"
#include "proto/request_id.h"

namespace cobra::server {
namespace {

const absl::string_view kPrefix = proto::kLabelPrefix;  // g++ with -fsanitize knows no constant here

absl::string_view View(const grpc::string_ref& text) { return {text.data(), text.size()}; }

bool IsZero(absl::string_view text) { return text.find_first_not_of('0') == absl::string_view::npos; }

}  // namespace

absl::StatusOr<std::shared_ptr<const std::string>> LabelsOf(const Metadata& metadata) {
  auto it = metadata.lower_bound(grpc::string_ref(kPrefix.data(), kPrefix.size()));
  if (it == metadata.end() || !absl::StartsWith(View(it->first), kPrefix)) return nullptr;
  nlohmann::ordered_json labels;
  for (; it != metadata.end() && absl::StartsWith(View(it->first), kPrefix); ++it) {
    const absl::string_view key = View(it->first), value = View(it->second);
    const absl::string_view name = proto::LabelName(key.substr(kPrefix.size()));
    if (absl::Status status = proto::CheckLabel(name, value); !status.ok()) return status;
    if (labels.size() == proto::kMaxLabels) {
      return UsageError(LimitMessage("the call", int64_t{proto::kMaxLabels}, "labels"),
                        "leave some out, or join them into one");
    }
    nlohmann::ordered_json& label = labels[std::string(name)];
    if (!label.is_null()) return UsageError(absl::StrCat(key, ": is given twice"));
    label = std::string(value);
  }
  return std::make_shared<const std::string>(
      labels.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace));
}

absl::StatusOr<std::string> RequestIdOf(const Metadata& metadata) {
  const auto [begin, end] = metadata.equal_range(proto::kRequestIdName);
  if (begin == end) return "";
  if (std::next(begin) != end) return UsageError(absl::StrCat(proto::kRequestIdName, ": is given twice"));
  COBRA_RETURN_IF_ERROR(proto::CheckRequestId(View(begin->second)));
  return std::string(View(begin->second));
}

std::optional<TraceContext> TraceOf(const Metadata& metadata) {
  const auto it = metadata.find(kTraceName);
  return it == metadata.end() ? std::nullopt : TraceOf(View(it->second));
}

std::optional<TraceContext> TraceOf(absl::string_view traceparent) {
  constexpr size_t kMostBytes = 512;
  if (traceparent.size() > kMostBytes) return std::nullopt;
  const std::vector<absl::string_view> parts = absl::StrSplit(traceparent, '-');
  // A later version may append parts; 255 is none.
  if (parts.size() < 4 || !IsHexDigits(parts[0], 2) || parts[0] == "ff" || (parts[0] == "00" && parts.size() != 4))
    return std::nullopt;
  if (!IsHexDigits(parts[1], 32) || IsZero(parts[1]) || !IsHexDigits(parts[2], 16) || IsZero(parts[2]) ||
      !IsHexDigits(parts[3], 2))
    return std::nullopt;
  return TraceContext{std::string(parts[1]), std::string(parts[2])};
}

}  // namespace cobra::server
