// The numbers of numpy, whose classes are derived from int and float here, and are not in NumPy.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_NUMPY_NUMBER_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_NUMPY_NUMBER_H_

#include "frontend/python/runtime/heap/object.h"
#include "frontend/python/runtime/interpreter/interpreter.h"

namespace cobra::python {

// Whether an operation of a number of Python, of class `a`, is that of the other operand's class
// `b` before it is Python's own, which would take a number of numpy for one of its own.
inline bool LeavesToNumpy(const BuiltinTypes& types, const ClassObject* a, const ClassObject* b) {
  return (a == types.int_type || a == types.float_type || a == types.bool_type || a == types.complex_type) &&
         b->module.IsStr() && b->module.str() == "numpy";
}

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_NUMPY_NUMBER_H_
