#include "frontend/python/syntax/python_version.h"

#include <atomic>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/user_error.h"

namespace cobra::python {
namespace {
std::atomic<int> set_minor{0};
}  // namespace

absl::StatusOr<int> ReadPythonVersion(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '.');
  int major = 0, minor = 0, micro = 0;
  const bool readable = (parts.size() == 2 || parts.size() == 3) && absl::SimpleAtoi(parts[0], &major) &&
                        absl::SimpleAtoi(parts[1], &minor) && (parts.size() == 2 || absl::SimpleAtoi(parts[2], &micro));
  if (readable && major == 3 && minor >= kOldestPython && minor <= kNewestPython && micro >= 0) return minor;
  return UserError(
      Diagnostic::Kind::kUsage,
      absl::StrCat("--python-version ", text.substr(0, 40), ": is not from 3.", kOldestPython, " to 3.", kNewestPython),
      "without it, each file is read as the oldest of them that accepts it");
}

void SetPythonVersion(int minor) { set_minor = minor; }

int GetPythonVersion() { return set_minor; }

int SeenPythonVersion() {
  const int minor = set_minor;
  return minor == 0 ? kOldestPython : minor;
}

std::string PythonVersionText() {
  const int minor = set_minor;
  return minor == 0 ? "" : absl::StrCat("3.", minor);
}

}  // namespace cobra::python
