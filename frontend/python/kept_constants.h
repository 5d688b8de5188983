// Whether a network keeps what its first run made: a mask in an attribute, a table of positions in
// a cache. Later runs find it there, and those are the ones that are timed.
#ifndef COBRA_FRONTEND_PYTHON_KEPT_CONSTANTS_H_
#define COBRA_FRONTEND_PYTHON_KEPT_CONSTANTS_H_

#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

// Whether a constant that a call of the graph has made can be reached from the model, or from the
// program's globals. Looks at so many objects only that it takes less than reading the network;
// beyond them it answers false.
bool KeepsConstants(Interpreter& interp, Value model);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_KEPT_CONSTANTS_H_
