// What a newcomer meant by a command line that is not understood.
#ifndef COBRA_CLIENT_PROGRAM_NEXT_STEP_H_
#define COBRA_CLIENT_PROGRAM_NEXT_STEP_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace cobra::client {

// An error of the command line, with a hint that names the whole next command where the words tell
// it: a model without `predict`, a shape without --input, a second target behind a blank, `help`.
// `words`: the command line without the program.
absl::Status WithNextStep(const absl::Status& status, const std::vector<std::string>& words);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_PROGRAM_NEXT_STEP_H_
