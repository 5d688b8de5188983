#include "tests/frontend/python/syntax/ast_writer.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "frontend/python/syntax/type_params.h"

namespace cobra::python {
namespace ast {
namespace {

class Writer {
 public:
  Writer(const Ast& ast, bool positions, int version) : ast_(ast), positions_(positions), version_(version) {}
  std::string out;

  // Fields, separated by commas.
  template <typename First, typename... Rest>
  void Fields(const First& first, const Rest&... rest) {
    Put(first);
    ((out += ',', Put(rest)), ...);
  }
  template <typename... F>
  void Node(const char* name, const Position* pos, const F&... fields) {
    out += name;
    if (pos != nullptr && positions_) {
      absl::StrAppend(&out, "@", pos->line, ",", pos->col, ",", pos->end_line, ",", pos->end_col);
    }
    out += '(';
    if constexpr (sizeof...(fields) > 0) Fields(fields...);
    out += ')';
  }

  void Put(const ExprNode* e);
  void Put(const StmtNode* s);
  void Put(const PatternNode* p);
  void Put(Identifier name) {
    if (name == nullptr) {
      out += '-';
    } else {
      out.append(name->text.data(), name->text.size());
    }
  }
  void Put(int value) { absl::StrAppend(&out, value); }
  void Put(const char* text) { out += text; }
  void Put(const std::string& text) { out += text; }
  void Put(const Arg* a) { a == nullptr ? Put("-") : Node("arg", &a->pos, a->arg, a->annotation); }
  void Put(const Arguments* a) {
    Node("arguments", nullptr, a->posonlyargs, a->args, a->vararg, a->kwonlyargs, a->kw_defaults, a->kwarg,
         a->defaults);
  }
  void Put(const Keyword* k) { Node("keyword", &k->pos, k->arg, k->value); }
  void Put(const Alias* a) { Node("alias", &a->pos, a->name, a->asname); }
  void Put(const TypeParam* p) {
    const auto node = [&](const auto&... fields) { Node(NameOf(p->node_kind), &p->pos, p->name, fields...); };
    const ExprNode* bound = p->bound == nullptr ? nullptr : p->bound->body;
    const ExprNode* value = p->default_value == nullptr ? nullptr : p->default_value->body;
    const bool is_variable = p->node_kind == TypeParamKind::TypeVar;
    if (version_ < 13) return is_variable ? node(bound) : node();
    return is_variable ? node(bound, value) : node(value);
  }
  void Put(const WithItem* w) { Node("withitem", nullptr, w->context_expr, w->optional_vars); }
  void Put(const MatchCase* m) { Node("match_case", nullptr, m->pattern, m->guard, m->body); }
  void Put(const Comprehension* c) { Node("comprehension", nullptr, c->target, c->iter, c->ifs, c->is_async ? 1 : 0); }
  void Put(const ExceptHandler* h) { Node("ExceptHandler", &h->pos, h->type, h->name, h->body); }
  void Put(CmpOperator op) { out += NameOf(op); }
  template <typename T>
  void Put(absl::Span<const T> items) {
    out += '[';
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out += ',';
      Put(items[i]);
    }
    out += ']';
  }

 private:
  void PutConstant(const Constant* c);
  const Ast& ast_;
  bool positions_;
  const int version_;  // minor one of Python
};

void Writer::PutConstant(const Constant* c) {
  std::string value;
  const auto bits = [&](double d) {
    uint64_t v;
    std::memcpy(&v, &d, 8);
    return absl::StrFormat("%016x", v);
  };
  switch (c->constant_kind) {
    case ConstantKind::kNone: value = "None"; break;
    case ConstantKind::kTrue: value = "True"; break;
    case ConstantKind::kFalse: value = "False"; break;
    case ConstantKind::kEllipsis: value = "Ellipsis"; break;
    case ConstantKind::kInt: value = absl::StrCat(c->int_value); break;
    case ConstantKind::kBigInt: value = std::string(c->text); break;
    case ConstantKind::kFloat: value = absl::StrCat("F", bits(c->float_value)); break;
    case ConstantKind::kComplex: value = absl::StrCat("J", bits(c->float_value)); break;
    case ConstantKind::kStr: value = absl::StrCat("S", c->text.size(), ":", c->text); break;
    case ConstantKind::kBytes: value = absl::StrCat("B", c->text.size(), ":", c->text); break;
  }
  Node("Constant", &c->pos, value, c->is_u_string ? "u" : "-");
}

// Long because every kind of expression has a line or two.
void Writer::Put(const ExprNode* e) {
  if (e == nullptr) {
    out += '-';
    return;
  }
  const auto node = [&](const auto&... fields) { Node(NameOf(e->node_kind), &e->pos, fields...); };
  switch (e->node_kind) {
    case ExprKind::BoolOp: {
      auto* n = e->As<BoolOp>();
      return node(NameOf(n->op), n->values);
    }
    case ExprKind::NamedExpr: {
      auto* n = e->As<NamedExpr>();
      return node(n->target, n->value);
    }
    case ExprKind::BinOp: {
      auto* n = e->As<BinOp>();
      return node(n->left, NameOf(n->op), n->right);
    }
    case ExprKind::UnaryOp: {
      auto* n = e->As<UnaryOp>();
      return node(NameOf(n->op), n->operand);
    }
    case ExprKind::Lambda: {
      auto* n = e->As<Lambda>();
      return node(n->args, n->body);
    }
    case ExprKind::IfExp: {
      auto* n = e->As<IfExp>();
      return node(n->test, n->body, n->orelse);
    }
    case ExprKind::Dict: {
      auto* n = e->As<Dict>();
      return node(n->keys, n->values);
    }
    case ExprKind::Set: {
      auto* n = e->As<Set>();
      return node(n->elts);
    }
    case ExprKind::ListComp: {
      auto* n = e->As<ListComp>();
      return node(n->elt, n->generators);
    }
    case ExprKind::SetComp: {
      auto* n = e->As<SetComp>();
      return node(n->elt, n->generators);
    }
    case ExprKind::DictComp: {
      auto* n = e->As<DictComp>();
      return node(n->key, n->value, n->generators);
    }
    case ExprKind::GeneratorExp: {
      auto* n = e->As<GeneratorExp>();
      return node(n->elt, n->generators);
    }
    case ExprKind::Await: return node(e->As<Await>()->value);
    case ExprKind::Yield: return node(e->As<Yield>()->value);
    case ExprKind::YieldFrom: return node(e->As<YieldFrom>()->value);
    case ExprKind::Compare: {
      auto* n = e->As<Compare>();
      return node(n->left, n->ops, n->comparators);
    }
    case ExprKind::Call: {
      auto* n = e->As<Call>();
      return node(n->func, n->args, n->keywords);
    }
    case ExprKind::FormattedValue: {
      auto* n = e->As<FormattedValue>();
      return node(n->value, n->conversion, n->format_spec);
    }
    case ExprKind::JoinedStr: return node(e->As<JoinedStr>()->values);
    case ExprKind::Constant: return PutConstant(e->As<Constant>());
    case ExprKind::Attribute: {
      auto* n = e->As<Attribute>();
      return node(n->value, n->attr, NameOf(n->ctx));
    }
    case ExprKind::Subscript: {
      auto* n = e->As<Subscript>();
      return node(n->value, n->slice, NameOf(n->ctx));
    }
    case ExprKind::Starred: {
      auto* n = e->As<Starred>();
      return node(n->value, NameOf(n->ctx));
    }
    case ExprKind::Name: {
      auto* n = e->As<Name>();
      return node(n->id, NameOf(n->ctx));
    }
    case ExprKind::List: {
      auto* n = e->As<List>();
      return node(n->elts, NameOf(n->ctx));
    }
    case ExprKind::Tuple: {
      auto* n = e->As<Tuple>();
      return node(n->elts, NameOf(n->ctx));
    }
    case ExprKind::Slice: {
      auto* n = e->As<Slice>();
      return node(n->lower, n->upper, n->step);
    }
  }
}

void Writer::Put(const PatternNode* p) {
  if (p == nullptr) {
    out += '-';
    return;
  }
  const auto node = [&](const auto&... fields) { Node(NameOf(p->node_kind), &p->pos, fields...); };
  switch (p->node_kind) {
    case PatternKind::MatchValue: return node(p->As<MatchValue>()->value);
    case PatternKind::MatchSingleton: {
      const ConstantKind k = p->As<MatchSingleton>()->value;
      return node(k == ConstantKind::kNone ? "None" : k == ConstantKind::kTrue ? "True" : "False");
    }
    case PatternKind::MatchSequence: return node(p->As<MatchSequence>()->patterns);
    case PatternKind::MatchMapping: {
      auto* n = p->As<MatchMapping>();
      return node(n->keys, n->patterns, n->rest);
    }
    case PatternKind::MatchClass: {
      auto* n = p->As<MatchClass>();
      return node(n->cls, n->patterns, n->kwd_attrs, n->kwd_patterns);
    }
    case PatternKind::MatchStar: return node(p->As<MatchStar>()->name);
    case PatternKind::MatchAs: {
      auto* n = p->As<MatchAs>();
      return node(n->pattern, n->name);
    }
    case PatternKind::MatchOr: return node(p->As<MatchOr>()->patterns);
  }
}

// Long because every kind of statement has a line or two.
void Writer::Put(const StmtNode* s) {
  const auto node = [&](const auto&... fields) { Node(NameOf(s->node_kind), &s->pos, fields...); };
  const auto function = [&](const auto* n) {
    if (version_ < 12) return node(n->name, n->args, n->body, n->decorator_list, n->returns);
    node(n->name, n->args, n->body, n->decorator_list, n->returns, TypeParamsOf(ast_, n));
  };
  const auto loop = [&](const auto* n) { node(n->target, n->iter, n->body, n->orelse); };
  const auto attempt = [&](const auto* n) { node(n->body, n->handlers, n->orelse, n->finalbody); };
  switch (s->node_kind) {
    case StmtKind::FunctionDef: return function(s->As<FunctionDef>());
    case StmtKind::AsyncFunctionDef: return function(s->As<AsyncFunctionDef>());
    case StmtKind::ClassDef: {
      auto* n = s->As<ClassDef>();
      if (version_ < 12) return node(n->name, n->bases, n->keywords, n->body, n->decorator_list);
      return node(n->name, n->bases, n->keywords, n->body, n->decorator_list, TypeParamsOf(ast_, n));
    }
    case StmtKind::Return: return node(s->As<Return>()->value);
    case StmtKind::Delete: return node(s->As<Delete>()->targets);
    case StmtKind::Assign: {
      auto* n = s->As<Assign>();
      return node(n->targets, n->value);
    }
    case StmtKind::AugAssign: {
      auto* n = s->As<AugAssign>();
      return node(n->target, NameOf(n->op), n->value);
    }
    case StmtKind::AnnAssign: {
      auto* n = s->As<AnnAssign>();
      if (IsTypeAlias(n))
        return Node("TypeAlias", &s->pos, n->target, TypeParamsOf(ast_, n), n->value->As<Lambda>()->body);
      return node(n->target, n->annotation, n->value, n->simple ? 1 : 0);
    }
    case StmtKind::For: return loop(s->As<For>());
    case StmtKind::AsyncFor: return loop(s->As<AsyncFor>());
    case StmtKind::While: {
      auto* n = s->As<While>();
      return node(n->test, n->body, n->orelse);
    }
    case StmtKind::If: {
      auto* n = s->As<If>();
      return node(n->test, n->body, n->orelse);
    }
    case StmtKind::With: {
      auto* n = s->As<With>();
      return node(n->items, n->body);
    }
    case StmtKind::AsyncWith: {
      auto* n = s->As<AsyncWith>();
      return node(n->items, n->body);
    }
    case StmtKind::Match: {
      auto* n = s->As<Match>();
      return node(n->subject, n->cases);
    }
    case StmtKind::Raise: {
      auto* n = s->As<Raise>();
      return node(n->exc, n->cause);
    }
    case StmtKind::Try: return attempt(s->As<Try>());
    case StmtKind::TryStar: return attempt(s->As<TryStar>());
    case StmtKind::Assert: {
      auto* n = s->As<Assert>();
      return node(n->test, n->msg);
    }
    case StmtKind::Import: return node(s->As<Import>()->names);
    case StmtKind::ImportFrom: {
      auto* n = s->As<ImportFrom>();
      return node(n->module, n->names, n->level);
    }
    case StmtKind::Global: return node(s->As<Global>()->names);
    case StmtKind::Nonlocal: return node(s->As<Nonlocal>()->names);
    case StmtKind::Expr: return node(s->As<Expr>()->value);
    case StmtKind::Pass:
    case StmtKind::Break:
    case StmtKind::Continue: return node();
  }
}

}  // namespace

std::string WriteAst(const Ast& ast, bool positions, int version) {
  Writer writer(ast, positions, version);
  if (ast.module() != nullptr) {
    writer.Node("Module", nullptr, ast.module()->body);
  } else {
    writer.Node("Expression", nullptr, ast.expression()->body);
  }
  return std::move(writer.out);
}

}  // namespace ast
}  // namespace cobra::python
