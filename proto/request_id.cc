#include "proto/request_id.h"

#include <random>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/names.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"

namespace cobra::proto {

std::string NewRequestId() {
  std::random_device random;
  return absl::StrFormat("%08x%08x%08x%08x", random(), random(), random(), random());
}

absl::Status CheckRequestId(absl::string_view id) {
  constexpr char kHint[] = "give each request a unique id of random digits, and the same id when it is repeated";
  if (id.size() > kMaxRequestIdBytes) {
    return UsageError(
        LimitMessage(kRequestIdName, static_cast<int64_t>(id.size()), int64_t{kMaxRequestIdBytes}, "bytes"), kHint);
  }
  if (IsApiName(id, kMaxRequestIdBytes)) return absl::OkStatus();
  return UsageError(
      absl::StrCat(kRequestIdName, " \"", absl::CHexEscape(id), "\": may have letters, digits, '-', '_' and '.' only"),
      kHint);
}

}  // namespace cobra::proto
