// The Python sources under stdlib/, embedded by CMake, and the native parts of the standard library.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_STDLIB_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_STDLIB_H_

#include "absl/strings/string_view.h"
#include "frontend/python/runtime/native.h"

namespace cobra::python {

struct EmbeddedModule {
  const char* name;  // dotted
  const char* source;
};
// Terminated by an entry whose name is null.
extern const EmbeddedModule kEmbeddedModules[];

double Gamma(double x);  // math_gamma.cc; NaN where Python raises ValueError
double LogGamma(double x);
void AddCmathModule(NativeRegistry* registry);
void AddMathModule(NativeRegistry* registry);
void AddSystemModules(NativeRegistry* registry);    // sys, builtins, _cobra (what stdlib/*.py needs from C++)
void AddItertoolsModule(NativeRegistry* registry);  // itertools
void AddRandomModule(NativeRegistry* registry);     // _random
void AddReModule(NativeRegistry* registry);         // _re

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_STDLIB_H_
