// The visit of ScopeChecker: which names each scope binds, declares and uses.
#include "frontend/python/syntax/check/scope_checker.h"
#include "frontend/python/syntax/type_params.h"
#include "frontend/python/syntax/walk.h"

namespace cobra::python {
namespace ast {

bool ScopeChecker::Statement(const StmtNode* s) {
  switch (s->node_kind) {
    case StmtKind::FunctionDef: return Function(s->As<FunctionDef>());
    case StmtKind::AsyncFunctionDef: return Function(s->As<AsyncFunctionDef>());
    case StmtKind::ClassDef: return Class(s->As<ClassDef>());
    case StmtKind::Return: return Optional(s->As<Return>()->value);
    case StmtKind::Delete: return All(s->As<Delete>()->targets);
    case StmtKind::Assign: return All(s->As<Assign>()->targets) && Visit(s->As<Assign>()->value);
    case StmtKind::AugAssign: return Visit(s->As<AugAssign>()->target) && Visit(s->As<AugAssign>()->value);
    case StmtKind::AnnAssign: return AnnotatedAssign(s->As<AnnAssign>());
    case StmtKind::For: {
      const For* n = s->As<For>();
      return Visit(n->target) && Visit(n->iter) && Statements(n->body) && Statements(n->orelse);
    }
    case StmtKind::AsyncFor: {
      const AsyncFor* n = s->As<AsyncFor>();
      return Visit(n->target) && Visit(n->iter) && Statements(n->body) && Statements(n->orelse);
    }
    case StmtKind::While: {
      const While* n = s->As<While>();
      return Visit(n->test) && Statements(n->body) && Statements(n->orelse);
    }
    case StmtKind::If: {
      const If* n = s->As<If>();
      return Visit(n->test) && Statements(n->body) && Statements(n->orelse);
    }
    case StmtKind::With: return WithItems(s->As<With>()->items) && Statements(s->As<With>()->body);
    case StmtKind::AsyncWith: return WithItems(s->As<AsyncWith>()->items) && Statements(s->As<AsyncWith>()->body);
    case StmtKind::Match: {
      const Match* n = s->As<Match>();
      if (!Visit(n->subject)) return false;
      for (const MatchCase* c : n->cases) {
        if (!Pattern(c->pattern) || !Optional(c->guard) || !Statements(c->body)) return false;
      }
      return true;
    }
    case StmtKind::Raise: return Optional(s->As<Raise>()->exc) && Optional(s->As<Raise>()->cause);
    case StmtKind::Try: {
      const Try* n = s->As<Try>();
      return Statements(n->body) && Statements(n->orelse) && Handlers(n->handlers) && Statements(n->finalbody);
    }
    case StmtKind::TryStar: {
      const TryStar* n = s->As<TryStar>();
      return Statements(n->body) && Statements(n->orelse) && Handlers(n->handlers) && Statements(n->finalbody);
    }
    case StmtKind::Assert: return Visit(s->As<Assert>()->test) && Optional(s->As<Assert>()->msg);
    case StmtKind::Import: return Aliases(s->As<Import>()->names);
    case StmtKind::ImportFrom: return Aliases(s->As<ImportFrom>()->names);
    case StmtKind::Global: return Declare(s, s->As<Global>()->names, true);
    case StmtKind::Nonlocal: return Declare(s, s->As<Nonlocal>()->names, false);
    case StmtKind::Expr: return Visit(s->As<Expr>()->value);
    case StmtKind::Pass:
    case StmtKind::Break:
    case StmtKind::Continue: return true;
  }
  return true;
}

template <typename Node>
bool ScopeChecker::Function(const Node* f) {
  if (!Add(f->name, kLocal, f->pos) || !All(f->args->defaults) || !All(f->args->kw_defaults)) return false;
  const Seq<TypeParam> params = TypeParamsOf(ast_, f);
  const bool generic = !params.empty();
  if (generic && (!All(f->decorator_list) || !TypeParams(params))) return false;
  if (!ParameterAnnotations(*f->args) || (f->returns != nullptr && !Annotation(f->returns))) return false;
  if (!generic && !All(f->decorator_list)) return false;
  Enter(Scope::Kind::kFunction);
  current().coroutine = f->node_kind == StmtKind::AsyncFunctionDef;
  if (!Parameters(*f->args) || !Statements(f->body)) return false;
  Leave(f);
  if (generic) Leave(nullptr);
  return true;
}

bool ScopeChecker::Class(const ClassDef* c) {
  const Seq<TypeParam> params = TypeParamsOf(ast_, c);
  const bool generic = !params.empty();
  if (!Add(c->name, kLocal, c->pos)) return false;
  if (generic && (!All(c->decorator_list) || !TypeParams(params))) return false;
  if (!All(c->bases) || !Keywords(c->keywords) || (!generic && !All(c->decorator_list))) return false;
  Enter(Scope::Kind::kClass);
  if (!Statements(c->body)) return false;
  Leave(nullptr);
  if (generic) Leave(nullptr);
  return true;
}

// Enters the scope of the parameters, which is left behind what they are of.
bool ScopeChecker::TypeParams(Seq<TypeParam> params) {
  Enter(Scope::Kind::kTypes);
  current().what = "the definition of a generic";
  bool defaults = false;
  for (const TypeParam* p : params) {
    if (facts_->version >= 13 && p->name->text == "__classdict__")
      return Fail(p->pos, "reserved name '__classdict__' cannot be used for type parameter");
    if (FlagsIn(current_, p->name) & kTypeParam) return FailName(p->pos, "duplicate type parameter ", p->name, "");
    if (!Add(p->name, kLocal | kTypeParam, p->pos)) return false;
    const bool constraints = p->bound != nullptr && p->bound->body->Is<Tuple>();
    if (!Lazily(p->bound, constraints ? "a TypeVar constraint" : "a TypeVar bound")) return false;
    if (!Lazily(p->default_value, p->node_kind == TypeParamKind::TypeVar     ? "a TypeVar default"
                                  : p->node_kind == TypeParamKind::ParamSpec ? "a ParamSpec default"
                                                                             : "a TypeVarTuple default")) {
      return false;
    }
    if (defaults && p->default_value == nullptr)
      return FailName(p->pos, "non-default type parameter ", p->name, " follows default type parameter");
    defaults |= p->default_value != nullptr;
  }
  return true;
}

bool ScopeChecker::Lazily(const Lambda* lambda, const char* what) {
  if (lambda == nullptr) return true;
  Enter(Scope::Kind::kTypes);
  current().what = what;
  // A star is of the default of a TypeVarTuple alone.
  const Starred* starred = lambda->body->AsOrNull<Starred>();
  if (!Visit(starred != nullptr ? starred->value : lambda->body)) return false;
  Leave(nullptr);
  return true;
}

bool ScopeChecker::AliasStatement(const AnnAssign* s) {
  if (!Visit(s->target)) return false;
  const Seq<TypeParam> params = TypeParamsOf(ast_, s);
  const bool generic = !params.empty();
  if (generic && !TypeParams(params)) return false;
  if (!Lazily(s->value->As<Lambda>(), "a type alias")) return false;
  if (generic) Leave(nullptr);
  return true;
}

bool ScopeChecker::ParameterAnnotations(const Arguments& args) {
  const auto visit = [&](const Arg* a) { return a == nullptr || a->annotation == nullptr || Visit(a->annotation); };
  const auto all = [&](Seq<Arg> list) {
    for (const Arg* a : list) {
      if (!visit(a)) return false;
    }
    return true;
  };
  if (facts_->future_annotations) Enter(Scope::Kind::kAnnotation);
  if (!all(args.posonlyargs) || !all(args.args) || !visit(args.vararg) || !visit(args.kwarg) || !all(args.kwonlyargs)) {
    return false;
  }
  if (facts_->future_annotations) Leave(nullptr);
  return true;
}

bool ScopeChecker::Annotation(const ExprNode* annotation) {
  if (facts_->future_annotations) Enter(Scope::Kind::kAnnotation);
  if (!Visit(annotation)) return false;
  if (facts_->future_annotations) Leave(nullptr);
  return true;
}

bool ScopeChecker::Parameters(const Arguments& args) {
  for (Seq<Arg> list : {args.posonlyargs, args.args, args.kwonlyargs}) {
    for (const Arg* a : list) {
      if (!Add(a->arg, kParam, a->pos)) return false;
    }
  }
  for (const Arg* a : {args.vararg, args.kwarg}) {
    if (a != nullptr && !Add(a->arg, kParam, a->pos)) return false;
  }
  return true;
}

bool ScopeChecker::AnnotatedAssign(const AnnAssign* a) {
  if (IsTypeAlias(a)) return AliasStatement(a);
  const Name* name = a->target->AsOrNull<Name>();
  if (name == nullptr) {
    if (!Visit(a->target)) return false;
  } else {
    const uint16_t flags = FlagsIn(current_, name->id);
    if ((flags & (kGlobal | kNonlocal)) && current().kind != Scope::Kind::kModule && a->simple) {
      return FailName(a->pos, "annotated name ", name->id, flags & kGlobal ? " can't be global" : " can't be nonlocal");
    }
    if (a->simple) {
      if (!Add(name->id, kAnnotated | kLocal, name->pos)) return false;
    } else if (a->value != nullptr && !Add(name->id, kLocal, name->pos)) {
      return false;
    }
  }
  return Annotation(a->annotation) && Optional(a->value);
}

bool ScopeChecker::Declare(const StmtNode* s, IdentifierSeq names, bool global) {
  const char* const word = global ? "global" : "nonlocal";
  for (Identifier name : names) {
    const uint16_t flags = FlagsIn(current_, name);
    if (flags & kParam) return FailName(s->pos, "name ", name, absl::StrCat(" is parameter and ", word));
    if (flags & kUse) return FailName(s->pos, "name ", name, absl::StrCat(" is used prior to ", word, " declaration"));
    if (flags & kAnnotated) return FailName(s->pos, "annotated name ", name, absl::StrCat(" can't be ", word));
    if (flags & kLocal) {
      return FailName(s->pos, "name ", name, absl::StrCat(" is assigned to before ", word, " declaration"));
    }
    if (!Add(name, global ? kGlobal : kNonlocal, s->pos)) return false;
    AddDirective(name, s->pos);
  }
  return true;
}

bool ScopeChecker::Aliases(Seq<Alias> names) {
  for (const Alias* alias : names) {
    const Identifier name = alias->asname != nullptr ? alias->asname : alias->name;
    if (name->text == "*") {
      if (current().kind == Scope::Kind::kModule) continue;
      return Fail(alias->pos, "import * only allowed at module level");
    }
    const size_t dot = name->text.find('.');
    // `import a.b` binds `a`. A name that does not occur elsewhere in the tree cannot be part of an
    // error.
    const Identifier bound = dot == absl::string_view::npos ? name : ast_.FindSymbol(name->text.substr(0, dot));
    if (bound != nullptr && !Add(bound, kImport, alias->pos)) return false;
  }
  return true;
}

bool ScopeChecker::WithItems(Seq<WithItem> items) {
  for (const WithItem* item : items) {
    if (!Visit(item->context_expr) || !Optional(item->optional_vars)) return false;
  }
  return true;
}

bool ScopeChecker::Handlers(Seq<ExceptHandler> handlers) {
  for (const ExceptHandler* h : handlers) {
    if (!Optional(h->type) || (h->name != nullptr && !Add(h->name, kLocal, h->pos)) || !Statements(h->body))
      return false;
  }
  return true;
}

bool ScopeChecker::Pattern(const PatternNode* p) {
  switch (p->node_kind) {
    case PatternKind::MatchValue: return Visit(p->As<MatchValue>()->value);
    case PatternKind::MatchSingleton: return true;
    case PatternKind::MatchSequence: return Patterns(p->As<MatchSequence>()->patterns);
    case PatternKind::MatchStar: {
      const Identifier name = p->As<MatchStar>()->name;
      return name == nullptr || Add(name, kLocal, p->pos);
    }
    case PatternKind::MatchMapping: {
      const MatchMapping* n = p->As<MatchMapping>();
      return All(n->keys) && Patterns(n->patterns) && (n->rest == nullptr || Add(n->rest, kLocal, p->pos));
    }
    case PatternKind::MatchClass: {
      const MatchClass* n = p->As<MatchClass>();
      return Visit(n->cls) && Patterns(n->patterns) && Patterns(n->kwd_patterns);
    }
    case PatternKind::MatchAs: {
      const MatchAs* n = p->As<MatchAs>();
      return (n->pattern == nullptr || Pattern(n->pattern)) && (n->name == nullptr || Add(n->name, kLocal, p->pos));
    }
    case PatternKind::MatchOr: return Patterns(p->As<MatchOr>()->patterns);
  }
  return true;
}

bool ScopeChecker::Visit(const ExprNode* e) {
  switch (e->node_kind) {
    case ExprKind::Name: {
      const Name* name = e->As<Name>();
      return Add(name->id, name->ctx == ExprContext::Load ? kUse : kLocal, e->pos);
    }
    case ExprKind::Constant: return true;
    case ExprKind::NamedExpr: return NamedExpression(e->As<NamedExpr>());
    case ExprKind::Lambda: {
      const Lambda* lambda = e->As<Lambda>();
      if (!All(lambda->args->defaults) || !All(lambda->args->kw_defaults)) return false;
      Enter(Scope::Kind::kFunction);
      if (!Parameters(*lambda->args) || !Visit(lambda->body)) return false;
      Leave(e);
      return true;
    }
    case ExprKind::ListComp:
    case ExprKind::SetComp:
    case ExprKind::DictComp:
    case ExprKind::GeneratorExp: return VisitComprehension(e);
    case ExprKind::Await:
      if (!NotInAnnotation(e, "await expression")) return false;
      if (!Visit(e->As<Await>()->value)) return false;
      current().coroutine = true;
      return true;
    case ExprKind::Yield:
    case ExprKind::YieldFrom: {
      if (!NotInAnnotation(e, "yield expression")) return false;
      if (!VisitChildren(e, [this](const ExprNode* child) { return Visit(child); })) return false;
      current().generator = true;
      const ExprNode* comprehension = current().comprehension;
      if (comprehension == nullptr) return true;
      const char* what = comprehension->Is<ListComp>()   ? "list comprehension"
                         : comprehension->Is<SetComp>()  ? "set comprehension"
                         : comprehension->Is<DictComp>() ? "dict comprehension"
                                                         : "generator expression";
      return Fail(e->pos, absl::StrCat("'yield' inside ", what));
    }
    default: return VisitChildren(e, [this](const ExprNode* child) { return Visit(child); });
  }
}

bool ScopeChecker::NamedExpression(const NamedExpr* e) {
  if (!NotInAnnotation(e, "named expression")) return false;
  if (current().in_iterable > 0) {
    return Fail(e->pos, "assignment expression cannot be used in a comprehension iterable expression");
  }
  if (current().comprehension != nullptr && !BindOutside(e, e->target->As<Name>()->id)) return false;
  return Visit(e->value) && Visit(e->target);
}

// `:=` in a comprehension binds in the enclosing function or module.
bool ScopeChecker::BindOutside(const NamedExpr* e, Identifier name) {
  for (int s = current_; s >= 0; s = scopes_[s].parent) {
    const uint16_t flags = FlagsIn(s, name);
    if (scopes_[s].comprehension != nullptr) {
      if ((flags & kIterationVariable) && (flags & (kLocal | kGlobal))) {
        return FailName(e->pos, "assignment expression cannot rebind comprehension iteration variable ", name, "");
      }
      continue;
    }
    switch (scopes_[s].kind) {
      case Scope::Kind::kFunction:
        if (!Add(name, flags & kGlobal ? kGlobal : kNonlocal, e->pos)) return false;
        AddDirective(name, e->pos);
        return AddIn(s, name, kLocal, e->pos);
      case Scope::Kind::kModule:
        if (!Add(name, kGlobal, e->pos)) return false;
        AddDirective(name, e->pos);
        return AddIn(s, name, kGlobal, e->pos);
      case Scope::Kind::kClass:
        return Fail(e->pos, "assignment expression within a comprehension cannot be used in a class body");
      case Scope::Kind::kTypes:
        return Fail(e->pos, absl::StrCat("assignment expression within a comprehension cannot be used within ",
                                         scopes_[s].what));
      case Scope::Kind::kAnnotation: break;
    }
  }
  return true;
}

bool ScopeChecker::VisitComprehension(const ExprNode* e) {
  const ComprehensionParts parts = PartsOf(e);
  const Comprehension* outermost = parts.generators[0];
  ++current().in_iterable;
  if (!Visit(outermost->iter)) return false;
  --current().in_iterable;
  Enter(Scope::Kind::kFunction, e);
  for (size_t i = 0; i < parts.generators.size(); ++i) {
    if (!Generator(parts.generators[i], i == 0)) return false;
  }
  if (!Optional(parts.value) || !Visit(parts.elt)) return false;
  const bool is_generator = e->Is<GeneratorExp>();
  current().generator = is_generator;
  const bool asynchronous = current().coroutine && !is_generator;
  Leave(e);
  if (asynchronous) current().coroutine = true;
  return true;
}

bool ScopeChecker::Generator(const Comprehension* g, bool outermost) {
  if (outermost && g->is_async) current().coroutine = true;
  current().in_iteration_target = true;
  if (!Visit(g->target)) return false;
  current().in_iteration_target = false;
  if (!outermost) {
    ++current().in_iterable;
    if (!Visit(g->iter)) return false;
    --current().in_iterable;
  }
  if (!All(g->ifs)) return false;
  if (g->is_async) current().coroutine = true;
  return true;
}

bool CheckScopes(const Ast& ast, ScopeFacts* facts, SyntaxProblem* problem) {
  return ScopeChecker(ast, facts, problem).Run();
}

}  // namespace ast
}  // namespace cobra::python
