#ifndef COBRA_BASE_TEXT_UTF8_H_
#define COBRA_BASE_TEXT_UTF8_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace cobra {

// How many bytes the character at the start of the text has in UTF-8, 1 to 4; 0 if there is none,
// or the bytes are not UTF-8 (overlong forms and surrogates are not).
size_t Utf8CharacterBytes(absl::string_view text);

bool IsUtf8(absl::string_view text);

// The beginning of the text, of at most `bytes`, that ends with a whole character. The text is
// UTF-8.
absl::string_view Utf8Prefix(absl::string_view text, size_t bytes);

// The text with '?' for each byte that is not UTF-8.
std::string ReplaceInvalidUtf8(absl::string_view text);

}  // namespace cobra

#endif  // COBRA_BASE_TEXT_UTF8_H_
