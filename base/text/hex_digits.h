#ifndef COBRA_BASE_TEXT_HEX_DIGITS_H_
#define COBRA_BASE_TEXT_HEX_DIGITS_H_

#include <algorithm>
#include <cstddef>

#include "absl/strings/string_view.h"

namespace cobra {

// Whether the text is `count` lower-case hexadecimal digits, as hashes are written.
inline bool IsHexDigits(absl::string_view text, size_t count) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == count && std::all_of(text.begin(), text.end(), is_digit);
}

inline constexpr size_t kSha256Digits = 64;

}  // namespace cobra

#endif  // COBRA_BASE_TEXT_HEX_DIGITS_H_
