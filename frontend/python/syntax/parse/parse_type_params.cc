// Type parameters and type statements: Python 3.12, and 3.13 for defaults.
#include "frontend/python/syntax/parse/parser_impl.h"

namespace cobra::python {
namespace ast {

using K = TokenKind;

// An expression that is evaluated when somebody asks for it.
const Lambda* Parser::ParseLazily(bool star) {
  const ExprNode* body = star ? ParseStarExpression() : ParseExpressionNode();
  if (body == nullptr) return nullptr;
  Lambda* lambda = builder_->Node<Lambda>(body->pos);
  lambda->args = builder_->Plain<Arguments>();
  lambda->body = body;
  return WithHeight(lambda, HeightOf(body));
}

// `[T: bound = default, *Ts, **P]`, if there is a bracket.
bool Parser::ParseTypeParams(Seq<TypeParam>* params) {
  if (version_ < 12 || !Accept(K::kLSquare)) return true;
  Collector<TypeParam> list(this);
  do {
    if (list.size() > 0 && At(K::kRSquare)) break;
    const TypeParam* param = ParseTypeParam();
    if (param == nullptr) return false;
    list.Add(param);
  } while (Accept(K::kComma));
  *params = list.Take();
  return Accept(K::kRSquare);
}

const TypeParam* Parser::ParseTypeParam() {
  const Start start = Here();
  const TypeParamKind kind = Accept(K::kStar)         ? TypeParamKind::TypeVarTuple
                             : Accept(K::kDoubleStar) ? TypeParamKind::ParamSpec
                                                      : TypeParamKind::TypeVar;
  Identifier name = TakeName();
  if (name == nullptr) return nullptr;
  const Lambda* bound = nullptr;
  const Lambda* default_value = nullptr;
  if (kind == TypeParamKind::TypeVar && Accept(K::kColon) && (bound = ParseLazily(false)) == nullptr) return nullptr;
  if (version_ >= 13 && Accept(K::kEqual)) {
    if ((default_value = ParseLazily(kind == TypeParamKind::TypeVarTuple)) == nullptr) return nullptr;
  }
  TypeParam* param = Make<TypeParam>(start);
  param->node_kind = kind;
  param->name = name;
  param->bound = bound;
  param->default_value = default_value;
  return param;
}

// `type` is a name too, but no other statement has a name behind it.
bool Parser::AtTypeAlias() { return version_ >= 12 && AtSoftKeyword("type") && Peek().kind == K::kName; }

const StmtNode* Parser::ParseTypeAlias() {
  const Start start = Here();
  Advance();
  const Start name_start = Here();
  Identifier id = TakeName();
  Name* name = Make<Name>(name_start);
  name->id = id;
  name->ctx = ExprContext::Store;
  Seq<TypeParam> params;
  if (!ParseTypeParams(&params) || !Accept(K::kEqual)) return nullptr;
  const Lambda* value = ParseLazily(false);
  if (value == nullptr) return nullptr;
  AnnAssign* node = Make<AnnAssign>(start);
  node->target = name;
  node->value = value;
  node->simple = true;
  builder_->SetTypeParams(node, params);
  return node;
}

}  // namespace ast
}  // namespace cobra::python
