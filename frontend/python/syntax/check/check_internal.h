#ifndef COBRA_FRONTEND_PYTHON_SYNTAX_CHECK_CHECK_INTERNAL_H_
#define COBRA_FRONTEND_PYTHON_SYNTAX_CHECK_CHECK_INTERNAL_H_

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "frontend/python/syntax/ast.h"
#include "frontend/python/syntax/lexer.h"

namespace cobra::python {
namespace ast {

// Results of the pass over the scopes for the other pass.
struct ScopeFacts {
  int version = 13;  // minor one of Python
  bool future_annotations = false;
  int last_future_line = -1;
  struct Flags {
    bool coroutine = false;  // holds `await`, `async for` or an asynchronous comprehension
    bool generator = false;
  };
  // By the node (FunctionDef, AsyncFunctionDef, Lambda or comprehension), for those that are
  // either.
  absl::flat_hash_map<const void*, Flags> functions;
};

// What the checkers of code and of patterns share. Functions that return bool return false after an
// error.
class CheckBase {
 protected:
  CheckBase(const Ast& ast, SyntaxProblem* problem)
      : ast_(ast), problem_(problem), debug_(ast.FindSymbol("__debug__")) {}

  bool Fail(const Position& pos, std::string message) {
    *problem_ = {SyntaxProblem::Kind::kSyntax, std::move(message), pos.line, pos.col + 1};
    return false;
  }
  // __debug__ is a constant: nothing may bind it.
  bool MayBind(Identifier name, const Position& pos, bool deleted = false) {
    if (name == nullptr || name != debug_) return true;
    return Fail(pos, deleted ? "cannot delete __debug__" : "cannot assign to __debug__");
  }

  const Ast& ast_;
  SyntaxProblem* problem_;
  // Null if the source does not have that name.
  const Identifier debug_;
};

bool CheckFuture(const Module& module, ScopeFacts* facts, SyntaxProblem* problem);
bool CheckScopes(const Ast& ast, ScopeFacts* facts, SyntaxProblem* problem);
bool CheckCompile(const Ast& ast, const ScopeFacts& facts, SyntaxProblem* problem);
// A part of CheckCompile: one case's pattern. `visit` checks the expressions in it; only a pattern
// that allows it may be one that matches everything.
bool CheckPattern(const Ast& ast, const PatternNode* pattern, bool allow_irrefutable,
                  absl::FunctionRef<bool(const ExprNode*)> visit, SyntaxProblem* problem);

}  // namespace ast
}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_SYNTAX_CHECK_CHECK_INTERNAL_H_
