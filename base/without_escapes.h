// Strangers' text on a terminal.
#ifndef COBRA_BASE_WITHOUT_ESCAPES_H_
#define COBRA_BASE_WITHOUT_ESCAPES_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace cobra {

// With '?' for what a terminal obeys instead of showing it: control characters except line ends and
// tabs, those of
// ISO 6429 that UTF-8 writes in two bytes (U+0080 to U+009F) or that stand alone in a text that is
// not UTF-8, those that turn the direction of what follows, and Unicode's ends of lines.
std::string WithoutEscapes(absl::string_view text);

// How many bytes at the head of `text` are such a character; 0: it may be shown. REQUIRES: `text`
// is not empty.
size_t ObeyedBytes(absl::string_view text);

}  // namespace cobra

#endif  // COBRA_BASE_WITHOUT_ESCAPES_H_
