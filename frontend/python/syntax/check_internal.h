#ifndef COBRA_FRONTEND_PYTHON_SYNTAX_CHECK_INTERNAL_H_
#define COBRA_FRONTEND_PYTHON_SYNTAX_CHECK_INTERNAL_H_

#include "absl/container/flat_hash_map.h"
#include "frontend/python/syntax/ast.h"
#include "frontend/python/syntax/lexer.h"

namespace cobra::python {
namespace ast {

// What the pass over the scopes finds out for the pass over the rest.
struct ScopeFacts {
  bool future_annotations = false;
  int last_future_line = -1;
  struct Flags {
    bool coroutine = false;  // holds `await`, `async for` or an asynchronous comprehension
    bool generator = false;
  };
  // By the node (FunctionDef, AsyncFunctionDef, Lambda or comprehension), for those that are either.
  absl::flat_hash_map<const void*, Flags> functions;
};

bool CheckFuture(const Module& module, ScopeFacts* facts, SyntaxProblem* problem);
bool CheckScopes(const Ast& ast, ScopeFacts* facts, SyntaxProblem* problem);
bool CheckCompile(const Ast& ast, const ScopeFacts& facts, SyntaxProblem* problem);

}  // namespace ast
}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_SYNTAX_CHECK_INTERNAL_H_
