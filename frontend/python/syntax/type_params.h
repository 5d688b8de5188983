// What Python 3.12 and 3.13 add to the statements of a tree (ast.h): the type parameters of def,
// class and type statements. They stand beside the nodes, because few statements have any.
//
// `type X[T] = V` is an AnnAssign without annotation, to X. Its value, as everything else that
// Python evaluates only when somebody asks for it, is the body of a Lambda without parameters.
#ifndef COBRA_FRONTEND_PYTHON_SYNTAX_TYPE_PARAMS_H_
#define COBRA_FRONTEND_PYTHON_SYNTAX_TYPE_PARAMS_H_

#include "frontend/python/syntax/ast.h"

namespace cobra::python {
namespace ast {

enum class TypeParamKind : uint8_t { TypeVar, ParamSpec, TypeVarTuple };
const char* NameOf(TypeParamKind kind);

// One of `[T: bound = default, **P, *Ts]`.
struct TypeParam : NodeHead<TypeParamKind> {
  static constexpr TypeParamKind kKind = TypeParamKind::TypeVar;
  Identifier name = nullptr;
  const Lambda* bound = nullptr;          // optional; of a TypeVar
  const Lambda* default_value = nullptr;  // optional
};

// Of a FunctionDef, an AsyncFunctionDef, a ClassDef or a type statement.
Seq<TypeParam> TypeParamsOf(const Ast& ast, const StmtNode* statement);

inline bool IsTypeAlias(const AnnAssign* s) { return s->annotation == nullptr; }

}  // namespace ast
}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_SYNTAX_TYPE_PARAMS_H_
