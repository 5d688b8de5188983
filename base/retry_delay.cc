#include "base/retry_delay.h"

#include <cstdint>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace cobra {
namespace {

constexpr char kUrl[] = "cobra/retry-delay-ns";

}  // namespace

absl::Status WithRetryDelay(absl::Status status, absl::Duration delay) {
  status.SetPayload(kUrl, absl::Cord(absl::StrCat(absl::ToInt64Nanoseconds(delay))));
  return status;
}

std::optional<absl::Duration> RetryDelayOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kUrl);
  int64_t nanoseconds = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &nanoseconds)) return std::nullopt;
  return absl::Nanoseconds(nanoseconds);
}

}  // namespace cobra
