// All names of the modules that are only partly implemented here, so that a missing one is reported
// as "not supported" and not as a fault of the program: CPython's standard library, and some of
// NumPy and SciPy.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_STANDARD_NAMES_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_STANDARD_NAMES_H_

#include "absl/strings/string_view.h"
#include "frontend/python/runtime/heap/object.h"
#include "frontend/python/runtime/interpreter/interpreter.h"

namespace cobra::python {

// The minor version of Python 3 from which `place`, a module ("logging") or a class
// ("logging.Handler"), has the public name: 11 (or before), 12, 13; 0 if it does not have it. Known
// for modules that exist here. The names of "" are the modules of packages that are partly
// implemented ("json.decoder").
int StandardNameSince(absl::string_view place, absl::string_view name);

// Whether a module of NumPy or SciPy is known to have no such name. REQUIRES: the module here has
// none either.
bool LacksName(absl::string_view module, absl::string_view name);

// An opaque value for an attribute that a class of the standard library among the bases of `cls`
// has in CPython 3.11 and lacks here; Unbound if there is none.
Value MissingStandardAttribute(Interpreter& interp, const ClassObject* cls, const StrObject* name);
// The same for an attribute of a module.
Value MissingStandardName(Interpreter& interp, const ModuleObject* module, const StrObject* name);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_STANDARD_NAMES_H_
