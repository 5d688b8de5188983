#include "base/names.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"

namespace cobra {
namespace {

bool IsInName(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.'; }

bool IsLowerHexDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)) || (c >= 'a' && c <= 'f'); }

}  // namespace

bool IsApiName(absl::string_view name, size_t longest) {
  return !name.empty() && name.size() <= longest && std::all_of(name.begin(), name.end(), IsInName);
}

absl::Status CheckApiName(absl::string_view what, absl::string_view name, size_t longest) {
  if (IsApiName(name, longest)) return absl::OkStatus();
  const auto usage = [](std::string message) { return UserError(Diagnostic::Kind::kUsage, std::move(message)); };
  if (name.empty()) return usage(absl::StrCat(what, ": is empty"));
  if (name.size() > longest)
    return usage(LimitMessage(what, static_cast<int64_t>(name.size()), static_cast<int64_t>(longest), "letters"));
  return usage(
      absl::StrCat(what, " \"", absl::CHexEscape(name), "\": may have letters, digits, '-', '_' and '.' only"));
}

bool IsTaskId(absl::string_view id) { return id.size() == 32 && std::all_of(id.begin(), id.end(), IsLowerHexDigit); }

}  // namespace cobra
