// Untrusted text on a terminal.
#ifndef COBRA_BASE_TEXT_WITHOUT_ESCAPES_H_
#define COBRA_BASE_TEXT_WITHOUT_ESCAPES_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace cobra {

// Replaces with '?' what a terminal would interpret instead of showing: control characters except
// line ends and tabs, those of ISO 6429 that UTF-8 writes in two bytes (U+0080 to U+009F) or that
// occur as single bytes in a text that is not UTF-8, those that change the writing direction, and
// Unicode's line ends.
std::string WithoutEscapes(absl::string_view text);

// The number of bytes of such a character at the start of `text`; 0: it may be shown. REQUIRES:
// `text` is not empty.
size_t ObeyedBytes(absl::string_view text);

}  // namespace cobra

#endif  // COBRA_BASE_TEXT_WITHOUT_ESCAPES_H_
