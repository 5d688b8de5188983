// A Python module whose source is embedded in the program (cmake/EmbedPython.cmake).
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_MODULES_EMBEDDED_MODULE_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_MODULES_EMBEDDED_MODULE_H_

#include "absl/strings/string_view.h"

namespace cobra::python {

struct EmbeddedModule {
  absl::string_view name;  // dotted
  absl::string_view source;
};

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_MODULES_EMBEDDED_MODULE_H_
