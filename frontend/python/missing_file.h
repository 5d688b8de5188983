// A request whose model's file is nowhere.
#ifndef COBRA_FRONTEND_PYTHON_MISSING_FILE_H_
#define COBRA_FRONTEND_PYTHON_MISSING_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cobra::python {

// The usage Diagnostic for a model's file, `path`, that is neither among the `files` of the request
// nor in a library.
absl::Status MissingFileError(std::vector<absl::string_view> files, absl::string_view path);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_MISSING_FILE_H_
