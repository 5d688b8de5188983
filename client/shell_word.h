#ifndef COBRA_CLIENT_SHELL_WORD_H_
#define COBRA_CLIENT_SHELL_WORD_H_

#include <string>

#include "absl/strings/string_view.h"

namespace cobra::client {

// An argument as a shell takes it: in quotes unless it is plain.
std::string ShellWord(absl::string_view argument);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_SHELL_WORD_H_
