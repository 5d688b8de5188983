// The library modules that a request certainly imports before any other code runs.
#ifndef COBRA_FRONTEND_PYTHON_IMPORT_PLAN_H_
#define COBRA_FRONTEND_PYTHON_IMPORT_PLAN_H_

#include <vector>

#include "frontend/python/reader.h"
#include "frontend/python/runtime/interpreter/import.h"

namespace cobra::python {

// In order. For a file in a library root: the file itself. For a file of the bundle: the imports at
// its head that find neither a file of the bundle nor a native module. The head ends at the first
// statement that is not an import, a docstring or the assignment of a constant.
std::vector<Importer::Needed> PlanImports(const SourceRequest& request);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_IMPORT_PLAN_H_
