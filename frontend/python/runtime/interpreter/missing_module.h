// The hint for an import that finds nothing.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_MISSING_MODULE_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_MISSING_MODULE_H_

#include <map>
#include <string>

#include "absl/strings/string_view.h"

namespace cobra::python {

// The hint for the module `name` ("net.layers"): if the bundle has the module's package, the file
// that it lacks; otherwise where packages are looked for.
std::string MissingModuleHint(const std::map<std::string, std::string>& bundle, absl::string_view name);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_MISSING_MODULE_H_
