// A few command lines of each command, as its --help and its man page end with.
#ifndef COBRA_CLIENT_PROGRAM_EXAMPLES_H_
#define COBRA_CLIENT_PROGRAM_EXAMPLES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace cobra::client {

// "Examples:" and a line for each; REQUIRES: a command of cobra-client.
std::string ExamplesOf(absl::string_view command);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_PROGRAM_EXAMPLES_H_
