#include "proto/label.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/limit_message.h"
#include "base/user_error.h"

namespace cobra::proto {
namespace {

constexpr size_t kMaxNameBytes = 64;

absl::Status Refuse(std::string message, std::string hint) {
  return UserError(Diagnostic::Kind::kUsage, std::move(message), std::move(hint));
}

bool IsInName(char c) {
  return absl::ascii_islower(static_cast<unsigned char>(c)) || absl::ascii_isdigit(static_cast<unsigned char>(c)) ||
         c == '-' || c == '_' || c == '.';
}

}  // namespace

absl::Status CheckLabel(absl::string_view name, absl::string_view value) {
  const std::string what = absl::StrCat("label \"", absl::CHexEscape(name.substr(0, kMaxNameBytes)), "\"");
  if (name.size() > kMaxNameBytes)
    return Refuse(LimitMessage(absl::StrCat(what, "...: the name"), static_cast<int64_t>(name.size()),
                               static_cast<int64_t>(kMaxNameBytes), "bytes"),
                  "give it a shorter name");
  // gRPC takes a name that ends in -bin for one of binary data.
  if (name.empty() || !std::all_of(name.begin(), name.end(), IsInName) || absl::EndsWith(name, "-bin"))
    return Refuse(absl::StrCat(what, ": is no name of a label"),
                  "use small letters, digits, \"-\", \"_\" and \".\", not ending in -bin");
  if (value.size() > kMaxLabelBytes)
    return Refuse(LimitMessage(absl::StrCat(what, ": the value"), static_cast<int64_t>(value.size()),
                               static_cast<int64_t>(kMaxLabelBytes), "bytes"),
                  "store the rest elsewhere, under a shorter key");
  const auto printable = [](char c) { return absl::ascii_isprint(static_cast<unsigned char>(c)); };
  if (!std::all_of(value.begin(), value.end(), printable))
    return Refuse(absl::StrCat(what, ": the value \"", absl::CHexEscape(value), "\" is no printable ASCII"),
                  "leave other characters out, or write them with escapes of your own");
  return absl::OkStatus();
}

}  // namespace cobra::proto
