// f.__code__: one object for each def, lambda, class body and module, whichever function or frame
// it is asked of.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_EVAL_CODE_OBJECT_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_EVAL_CODE_OBJECT_H_

#include <cstddef>
#include <vector>

#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

// The places of free variables, in the order of their names, as co_freevars and __closure__ have
// them.
std::vector<size_t> FreeOrder(const ScopeInfo& scope);

Result<Value> CodeOfFunction(Interpreter& interp, FunctionObject* f);
Result<Value> CodeOfFrame(Interpreter& interp, const Frame& frame);
// Gives a new code object, that of compile(), its attributes.
void DescribeCode(Interpreter& interp, InstanceObject* code, const CodeUnit* unit, const ScopeInfo& scope);

// f.__code__ = code
Result<void> SetCode(Interpreter& interp, FunctionObject* f, Value code);
// types.FunctionType(code, globals, name, argdefs, closure)
Result<Value> NewFunctionOfCode(Interpreter& interp, const CallArgs& args);

void InitCodeType(Interpreter& interp);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_EVAL_CODE_OBJECT_H_
