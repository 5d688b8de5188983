// Type parameters and type statements when they run (Python 3.12 and 3.13).
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_EVAL_TYPE_PARAMS_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_EVAL_TYPE_PARAMS_H_

#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

// Makes and binds the variables of `[T, *Ts, **P]` behind the name of a def, class or type
// statement. Null if it has none.
Result<TupleObject*> BindTypeParams(Interpreter& interp, Frame& frame, const ast::StmtNode* statement);
// `type X[T] = V` (ast::IsTypeAlias).
Completion ExecTypeAlias(Interpreter& interp, Frame& frame, const ast::AnnAssign* s);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_EVAL_TYPE_PARAMS_H_
