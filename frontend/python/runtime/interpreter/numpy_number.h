// The numbers of numpy. Here their classes are derived from int and float, in NumPy they are not.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_NUMPY_NUMBER_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_NUMPY_NUMBER_H_

#include "frontend/python/runtime/heap/object.h"
#include "frontend/python/runtime/interpreter/interpreter.h"

namespace cobra::python {

// Whether the operator of class `b`, numpy's, comes before that of class `a`, a number of Python,
// which would take the number of numpy for an int or a float.
inline bool LeavesToNumpy(const BuiltinTypes& types, const ClassObject* a, const ClassObject* b) {
  return (a == types.int_type || a == types.float_type || a == types.bool_type || a == types.complex_type) &&
         b->module.IsStr() && b->module.str() == "numpy";
}

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_NUMPY_NUMBER_H_
