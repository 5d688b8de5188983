// The version of Python as which this process reads programs. A process reads for one user, who
// gives it once, on the command line, before the first program is read.
#ifndef COBRA_FRONTEND_PYTHON_SYNTAX_PYTHON_VERSION_H_
#define COBRA_FRONTEND_PYTHON_SYNTAX_PYTHON_VERSION_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::python {

// Minor versions: Python 3.11 to 3.13.
inline constexpr int kOldestPython = 11;
inline constexpr int kNewestPython = 13;

// 12 for "3.12" or "3.12.4". A usage error for everything else.
absl::StatusOr<int> ReadPythonVersion(absl::string_view text);

// REQUIRES: from kOldestPython to kNewestPython, or 0: what it is from the start. Then each file is
// read as the oldest version that accepts it, and a program sees Python 3.11.
void SetPythonVersion(int minor);
int GetPythonVersion();
// What a program sees: sys.version_info[1].
int SeenPythonVersion();
// "3.12", as set; empty if nothing is.
std::string PythonVersionText();

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_SYNTAX_PYTHON_VERSION_H_
