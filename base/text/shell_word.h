#ifndef COBRA_BASE_TEXT_SHELL_WORD_H_
#define COBRA_BASE_TEXT_SHELL_WORD_H_

#include <string>

#include "absl/strings/string_view.h"

namespace cobra {

// An argument for a shell: in quotes unless it is plain.
std::string ShellWord(absl::string_view argument);

}  // namespace cobra

#endif  // COBRA_BASE_TEXT_SHELL_WORD_H_
