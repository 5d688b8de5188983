// The modules of this folder, whose source is embedded in the program.
#ifndef COBRA_FRONTEND_PYTHON_LIBRARY_MODULES_H_
#define COBRA_FRONTEND_PYTHON_LIBRARY_MODULES_H_

#include "absl/types/span.h"
#include "frontend/python/runtime/modules/embedded_module.h"

namespace cobra::python {

// By name, in unspecified order.
absl::Span<const EmbeddedModule> LibraryModules();

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_LIBRARY_MODULES_H_
