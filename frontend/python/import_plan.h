// Which library modules a request is certain to import before anything else runs.
#ifndef COBRA_FRONTEND_PYTHON_IMPORT_PLAN_H_
#define COBRA_FRONTEND_PYTHON_IMPORT_PLAN_H_

#include <vector>

#include "frontend/python/reader.h"
#include "frontend/python/runtime/import.h"

namespace cobra::python {

// In order. Of a file in a library root: itself. Of a file of the bundle: the imports at its head that find neither a
// file of the bundle nor a native module; the first statement that is more than an import, a docstring or the
// assignment of a constant ends them.
std::vector<Importer::Needed> PlanImports(const SourceRequest& request);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_IMPORT_PLAN_H_
