// One canonical text of a tree, the same that ast_text.py makes of CPython's:
// Kind@line,col,end_line,end_col(field,...).
#ifndef COBRA_TESTS_FRONTEND_PYTHON_SYNTAX_AST_WRITER_H_
#define COBRA_TESTS_FRONTEND_PYTHON_SYNTAX_AST_WRITER_H_

#include <string>

#include "frontend/python/syntax/ast.h"

namespace cobra::python {
namespace ast {

// `positions`: without them the text suits tables in tests. `version`: whose fields, minor one of
// Python.
std::string WriteAst(const Ast& ast, bool positions, int version = 11);

}  // namespace ast
}  // namespace cobra::python

#endif  // COBRA_TESTS_FRONTEND_PYTHON_SYNTAX_AST_WRITER_H_
