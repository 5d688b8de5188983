#include "lab/variants/digit_tokens.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace cobra::lab {

std::vector<text::RawToken> SplitDigits(absl::string_view text) {
  std::vector<text::RawToken> split;
  for (const text::RawToken& token : text::SplitText(text)) {
    if (!token.numeric) {
      split.push_back(token);
      continue;
    }
    const std::string digits = absl::StrFormat("%.6g", token.value);
    for (size_t i = 0; i < digits.size(); ++i) {
      split.push_back({absl::StrCat(token.word, "@", digits.size() - 1 - i, "=", digits.substr(i, 1)), false, 0});
    }
  }
  return split;
}

}  // namespace cobra::lab
