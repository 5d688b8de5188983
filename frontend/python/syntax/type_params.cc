#include "frontend/python/syntax/type_params.h"

#include "frontend/python/syntax/tree_builder.h"

namespace cobra::python {
namespace ast {

const char* NameOf(TypeParamKind kind) {
  static constexpr const char* kNames[] = {"TypeVar", "ParamSpec", "TypeVarTuple"};
  return kNames[static_cast<int>(kind)];
}

Seq<TypeParam> TypeParamsOf(const Ast& ast, const StmtNode* statement) {
  const auto& all = TreeBuilder::TypeParamsOf(ast);
  if (all.empty()) return {};
  const auto found = all.find(statement);
  return found == all.end() ? Seq<TypeParam>() : found->second;
}

}  // namespace ast
}  // namespace cobra::python
