// The wording of all messages about an exceeded limit:
//   "graph: 70,000 calls, more than the limit of 60,000"
//   "the program: more than the limit of 3,000,000 steps"    if counting stops at the limit
// The Diagnostic's hint tells the user what to do about it.
#ifndef COBRA_BASE_TEXT_LIMIT_MESSAGE_H_
#define COBRA_BASE_TEXT_LIMIT_MESSAGE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace cobra {

// `what` may be empty if the caller puts a name in front of the message. `unit` is a plural:
// "calls".
std::string LimitMessage(absl::string_view what, int64_t count, int64_t limit, absl::string_view unit);
// Round numbers of "bytes" are written in KiB, MiB, GiB or TiB.
std::string LimitMessage(absl::string_view what, int64_t limit, absl::string_view unit);

}  // namespace cobra

#endif  // COBRA_BASE_TEXT_LIMIT_MESSAGE_H_
