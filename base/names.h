// Names that programs exchange: of targets, workers, callers. They are printed, and become metric
// labels and parts of file names.
#ifndef COBRA_BASE_NAMES_H_
#define COBRA_BASE_NAMES_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cobra {

// The target that a calibration makes unless it is given another name.
inline constexpr char kThisMachine[] = "this-machine";
// Of a target, a worker or a caller.
inline constexpr size_t kMaxNameLetters = 200;

// Whether the text consists of 1 to `longest` letters, digits, '-', '_' and '.'.
bool IsApiName(absl::string_view name, size_t longest = kMaxNameLetters);
// A Diagnostic of kind kUsage that begins with `what` if it does not.
absl::Status CheckApiName(absl::string_view what, absl::string_view name, size_t longest = kMaxNameLetters);

// Whether this is the id of a task: 32 lower-case hexadecimal digits (Hash128::ToHex).
bool IsTaskId(absl::string_view id);

}  // namespace cobra

#endif  // COBRA_BASE_NAMES_H_
