// The errors that CPython's compiler finds in a tree that the grammar accepts.
#ifndef COBRA_FRONTEND_PYTHON_SYNTAX_CHECK_CHECK_H_
#define COBRA_FRONTEND_PYTHON_SYNTAX_CHECK_CHECK_H_

#include "frontend/python/syntax/ast.h"
#include "frontend/python/syntax/lexer.h"

namespace cobra::python {
namespace ast {

// False, and *problem: CPython's compile() raises SyntaxError. In CPython's order: __future__
// imports, then names and scopes (symtable.c), then the rest (compile.c); the first error found is
// the one that is reported.
// `version`: minor one of Python.
bool CheckTree(const Ast& ast, int version, SyntaxProblem* problem);

}  // namespace ast
}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_SYNTAX_CHECK_CHECK_H_
