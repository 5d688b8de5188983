// The standard library: its modules in Python (stdlib/, one file each), and its native parts.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_MODULES_STDLIB_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_MODULES_STDLIB_H_

#include "absl/types/span.h"
#include "frontend/python/runtime/interpreter/native.h"
#include "frontend/python/runtime/modules/embedded_module.h"

namespace cobra::python {

// The files below stdlib/.
absl::Span<const EmbeddedModule> StandardLibraryModules();

double Gamma(double x);  // math_gamma.cc; NaN where Python raises ValueError
double LogGamma(double x);
void AddCmathModule(NativeRegistry* registry);
void AddMathModule(NativeRegistry* registry);
void AddSystemModules(NativeRegistry* registry);       // sys, builtins, _cobra (what stdlib/ needs from C++)
void AddLibraryFunctions(NativeModuleBuilder& m);      // to _cobra: what packages look up in their text
void AddSourceFunction(NativeModuleBuilder& m);        // to _cobra: the text of functions and classes
void AddCompressionFunctions(NativeModuleBuilder& m);  // to _cobra: what data files are unpacked with
void AddPolynomialFunctions(NativeModuleBuilder& m);   // to _cobra: roots of polynomials
void AddItertoolsModule(NativeRegistry* registry);     // itertools
void AddRandomModule(NativeRegistry* registry);        // _random
void AddReModule(NativeRegistry* registry);            // _re

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_MODULES_STDLIB_H_
