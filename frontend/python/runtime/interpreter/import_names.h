// Packages that are known by their names.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_IMPORT_NAMES_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_IMPORT_NAMES_H_

#include "absl/strings/string_view.h"

namespace cobra::python {

// Packages of a library root that are implemented in C: reading their Python files would not help.
bool IsCompiledPackage(absl::string_view name);
// Whether a package only speaks to other machines, which no model does while it is defined.
bool IsNetworkPackage(absl::string_view name);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_IMPORT_NAMES_H_
