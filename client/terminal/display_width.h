// How many columns of a terminal a text takes: utf8proc's tables of Unicode (East Asian wide ones
// and pictures take two, marks over a letter none).
#ifndef COBRA_CLIENT_TERMINAL_DISPLAY_WIDTH_H_
#define COBRA_CLIENT_TERMINAL_DISPLAY_WIDTH_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace cobra::client {

struct Character {
  size_t bytes = 1;  // at least 1
  int columns = 1;   // 0, 1 or 2
};
// At the start of a text that is not empty. A byte that is not UTF-8 takes one column.
Character FirstCharacter(absl::string_view text);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_TERMINAL_DISPLAY_WIDTH_H_
