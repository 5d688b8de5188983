// The sub-expressions of an expression, in the order in which CPython evaluates them (roughly: a
// dict's keys come before its values, as in the ASDL).
#ifndef COBRA_FRONTEND_PYTHON_SYNTAX_WALK_H_
#define COBRA_FRONTEND_PYTHON_SYNTAX_WALK_H_

#include "frontend/python/syntax/ast.h"

namespace cobra::python {
namespace ast {

// Calls visit(child) for each child expression that is there, until one returns false; returns
// whether none did. Of a Lambda and the comprehensions, whose children live in scopes of their own,
// it visits nothing.
template <typename Visit>
bool VisitChildren(const ExprNode* e, Visit&& visit) {
  const auto one = [&](const ExprNode* child) { return child == nullptr || visit(child); };
  const auto all = [&](Seq<ExprNode> children) {
    for (const ExprNode* child : children) {
      if (!one(child)) return false;
    }
    return true;
  };
  switch (e->node_kind) {
    case ExprKind::BoolOp: return all(e->As<BoolOp>()->values);
    case ExprKind::NamedExpr: return one(e->As<NamedExpr>()->value) && one(e->As<NamedExpr>()->target);
    case ExprKind::BinOp: return one(e->As<BinOp>()->left) && one(e->As<BinOp>()->right);
    case ExprKind::UnaryOp: return one(e->As<UnaryOp>()->operand);
    case ExprKind::IfExp: {
      const IfExp* n = e->As<IfExp>();
      return one(n->test) && one(n->body) && one(n->orelse);
    }
    case ExprKind::Dict: return all(e->As<Dict>()->keys) && all(e->As<Dict>()->values);
    case ExprKind::Set: return all(e->As<Set>()->elts);
    case ExprKind::Await: return one(e->As<Await>()->value);
    case ExprKind::Yield: return one(e->As<Yield>()->value);
    case ExprKind::YieldFrom: return one(e->As<YieldFrom>()->value);
    case ExprKind::Compare: return one(e->As<Compare>()->left) && all(e->As<Compare>()->comparators);
    case ExprKind::Call: {
      const Call* n = e->As<Call>();
      if (!one(n->func) || !all(n->args)) return false;
      for (const Keyword* keyword : n->keywords) {
        if (!one(keyword->value)) return false;
      }
      return true;
    }
    case ExprKind::FormattedValue:
      return one(e->As<FormattedValue>()->value) && one(e->As<FormattedValue>()->format_spec);
    case ExprKind::JoinedStr: return all(e->As<JoinedStr>()->values);
    case ExprKind::Attribute: return one(e->As<Attribute>()->value);
    case ExprKind::Subscript: return one(e->As<Subscript>()->value) && one(e->As<Subscript>()->slice);
    case ExprKind::Starred: return one(e->As<Starred>()->value);
    case ExprKind::List: return all(e->As<List>()->elts);
    case ExprKind::Tuple: return all(e->As<Tuple>()->elts);
    case ExprKind::Slice: {
      const Slice* n = e->As<Slice>();
      return one(n->lower) && one(n->upper) && one(n->step);
    }
    case ExprKind::Lambda:
    case ExprKind::ListComp:
    case ExprKind::SetComp:
    case ExprKind::DictComp:
    case ExprKind::GeneratorExp:
    case ExprKind::Constant:
    case ExprKind::Name: return true;
  }
  return true;
}

// The common parts of the four comprehensions. For a DictComp, `elt` is the key and `value` the
// value.
struct ComprehensionParts {
  const ExprNode* elt = nullptr;
  const ExprNode* value = nullptr;
  Seq<Comprehension> generators;
};
inline ComprehensionParts PartsOf(const ExprNode* e) {
  switch (e->node_kind) {
    case ExprKind::ListComp: return {e->As<ListComp>()->elt, nullptr, e->As<ListComp>()->generators};
    case ExprKind::SetComp: return {e->As<SetComp>()->elt, nullptr, e->As<SetComp>()->generators};
    case ExprKind::GeneratorExp: return {e->As<GeneratorExp>()->elt, nullptr, e->As<GeneratorExp>()->generators};
    case ExprKind::DictComp: return {e->As<DictComp>()->key, e->As<DictComp>()->value, e->As<DictComp>()->generators};
    default: return {};
  }
}

}  // namespace ast
}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_SYNTAX_WALK_H_
