#include "proto/label.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/text/limit_message.h"
#include "base/text/utf8.h"
#include "base/text/without_escapes.h"
#include "base/user_error.h"

namespace cobra::proto {
namespace {

constexpr size_t kMaxNameBytes = 64;
constexpr char kBinary[] = "-bin";

bool IsInName(char c) {
  return absl::ascii_islower(static_cast<unsigned char>(c)) || absl::ascii_isdigit(static_cast<unsigned char>(c)) ||
         c == '-' || c == '_' || c == '.';
}

bool IsVisible(absl::string_view text) {
  return IsUtf8(text) && text.find_first_of("\n\t") == absl::string_view::npos && WithoutEscapes(text) == text;
}

std::string Shown(absl::string_view text) { return IsVisible(text) ? std::string(text) : absl::CHexEscape(text); }

}  // namespace

absl::Status CheckLabel(absl::string_view name, absl::string_view value) {
  const std::string what = absl::StrCat("label \"", Shown(name.substr(0, kMaxNameBytes)), "\"");
  if (name.size() > kMaxNameBytes)
    return UsageError(LimitMessage(absl::StrCat(what, "...: the name"), static_cast<int64_t>(name.size()),
                                   static_cast<int64_t>(kMaxNameBytes), "bytes"),
                      "give it a shorter name");
  // gRPC takes a name that ends in -bin for one of binary data.
  if (name.empty() || !std::all_of(name.begin(), name.end(), IsInName) || absl::EndsWith(name, kBinary))
    return UsageError(absl::StrCat(what, ": is not the name of a label"),
                      "use lower-case letters, digits, \"-\", \"_\" and \".\", not ending in -bin");
  if (value.size() > kMaxLabelBytes)
    return UsageError(LimitMessage(absl::StrCat(what, ": the value"), static_cast<int64_t>(value.size()),
                                   static_cast<int64_t>(kMaxLabelBytes), "bytes"),
                      "store the rest elsewhere, under a shorter key");
  if (!IsVisible(value))
    return UsageError(absl::StrCat(what, ": the value \"", Shown(value), "\" is not printable text"),
                      "use visible characters in UTF-8, and write others with escapes of your own");
  return absl::OkStatus();
}

std::pair<std::string, std::string> LabelMetadata(absl::string_view name, absl::string_view value) {
  const bool is_ascii = std::all_of(value.begin(), value.end(), [](unsigned char c) { return absl::ascii_isascii(c); });
  return {absl::StrCat(kLabelPrefix, name, is_ascii ? "" : kBinary), std::string(value)};
}

absl::string_view LabelName(absl::string_view key) {
  absl::ConsumeSuffix(&key, kBinary);
  return key;
}

}  // namespace cobra::proto
