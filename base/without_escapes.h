// Strangers' text on a terminal.
#ifndef COBRA_BASE_WITHOUT_ESCAPES_H_
#define COBRA_BASE_WITHOUT_ESCAPES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace cobra {

// With '?' for what a terminal obeys instead of showing it: control characters except line ends and tabs, those of
// ISO 6429 that UTF-8 writes in two bytes (U+0080 to U+009F), and those that turn the direction of what follows.
std::string WithoutEscapes(absl::string_view text);

}  // namespace cobra

#endif  // COBRA_BASE_WITHOUT_ESCAPES_H_
