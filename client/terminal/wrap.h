// Lines of prose that are longer than a terminal is wide, broken between words: a terminal breaks
// them within one.
#ifndef COBRA_CLIENT_TERMINAL_WRAP_H_
#define COBRA_CLIENT_TERMINAL_WRAP_H_

#include <string>

#include "absl/strings/string_view.h"

namespace cobra::client {

// With lines of at most `width` columns, as far as there are spaces to break at; 0: as it is. What
// a line goes on with is two columns further in than its beginning. Lines of programs, which an
// indentation of four or a '%' begins, and those of tables stay. Colours (terminal.h) take no room.
std::string WordWrapped(absl::string_view text, int width);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_TERMINAL_WRAP_H_
