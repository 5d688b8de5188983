// Errors that CPython's compile.c reports: statements in the wrong place, stars in the wrong place,
// patterns that cannot be reached (check_patterns.cc). The visiting order is CPython's (a class's
// body before its bases, a comprehension's elements before its outermost iterable), because only
// the first error is reported.
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "frontend/python/syntax/check/check_internal.h"
#include "frontend/python/syntax/type_params.h"
#include "frontend/python/syntax/walk.h"

namespace cobra::python {
namespace ast {
namespace {

// CPython's CO_MAXBLOCKS.
constexpr size_t kMaxBlocks = 20;

enum class ScopeKind { kModule, kClass, kFunction, kAsyncFunction, kLambda, kComprehension };
enum class Block { kLoop, kExceptStar, kOther };

struct CodeScope {
  ScopeKind kind = ScopeKind::kModule;
  ScopeFacts::Flags flags;
  std::vector<Block> blocks;

  bool IsFunction() const { return kind != ScopeKind::kModule && kind != ScopeKind::kClass; }
};

class CompileChecker : private CheckBase {
 public:
  CompileChecker(const Ast& ast, const ScopeFacts& facts, SyntaxProblem* problem)
      : CheckBase(ast, problem), facts_(facts) {}

  bool Run() {
    CodeScope module;
    scope_ = &module;
    return ast_.module() != nullptr ? Statements(ast_.module()->body) : Visit(ast_.expression()->body);
  }

 private:
  // Makes `scope` the current one during the lifetime of this object.
  class Enter {
   public:
    Enter(CompileChecker* checker, ScopeKind kind, const void* node) : checker_(checker), outer_(checker->scope_) {
      scope_.kind = kind;
      const auto found = checker->facts_.functions.find(node);
      if (found != checker->facts_.functions.end()) scope_.flags = found->second;
      checker->scope_ = &scope_;
    }
    ~Enter() { checker_->scope_ = outer_; }
    const CodeScope& outer() const { return *outer_; }

   private:
    CompileChecker* checker_;
    CodeScope* outer_;
    CodeScope scope_;
  };

  bool Push(Block block, const Position& pos) {
    if (scope_->blocks.size() >= kMaxBlocks) return Fail(pos, "too many statically nested blocks");
    scope_->blocks.push_back(block);
    return true;
  }
  bool Pop() {
    scope_->blocks.pop_back();
    return true;
  }

  bool Statements(Seq<StmtNode> body) {
    for (const StmtNode* s : body) {
      if (!Statement(s)) return false;
    }
    return true;
  }
  bool All(Seq<ExprNode> expressions) {
    for (const ExprNode* e : expressions) {
      if (e != nullptr && !Visit(e)) return false;
    }
    return true;
  }
  bool Optional(const ExprNode* e) { return e == nullptr || Visit(e); }

  bool Statement(const StmtNode* s);
  template <typename Node>
  bool Function(const Node* f);
  bool Class(const ClassDef* c);
  bool TypeParams(Seq<TypeParam> params);
  bool Lazily(const Lambda* lambda);
  bool ReturnStatement(const Return* r);
  bool Jump(const StmtNode* s, const char* outside);
  template <typename Node>
  bool Loop(const Node* n);
  template <typename Node>
  bool WithFrom(const Node* n, size_t item);
  template <typename Node>
  bool Attempt(const Node* n, bool star);
  template <typename Node>
  bool Handlers(const Node* n, bool star);
  template <typename Node>
  bool AttemptExcept(const Node* n, bool star);
  bool AnnotatedAssign(const AnnAssign* a);
  bool Aliases(Seq<Alias> names, const Position& pos);
  bool MatchStatement(const Match* m);
  bool ArgumentNames(const Arguments& args, const Position& pos);
  bool Annotations(const Arguments& args, const ExprNode* returns);
  bool KeywordNames(Seq<Keyword> keywords);

  bool Visit(const ExprNode* e);
  bool Elements(const ExprNode* e, Seq<ExprNode> elements, bool store);
  bool VisitAwait(const ExprNode* e);
  bool VisitComprehension(const ExprNode* e);
  bool VisitGenerators(const ComprehensionParts& parts, size_t index);

  const ScopeFacts& facts_;
  CodeScope* scope_ = nullptr;
};

bool CompileChecker::Statement(const StmtNode* s) {
  switch (s->node_kind) {
    case StmtKind::FunctionDef: return Function(s->As<FunctionDef>());
    case StmtKind::AsyncFunctionDef: return Function(s->As<AsyncFunctionDef>());
    case StmtKind::ClassDef: return Class(s->As<ClassDef>());
    case StmtKind::Return: return ReturnStatement(s->As<Return>());
    case StmtKind::Delete: return All(s->As<Delete>()->targets);
    case StmtKind::Assign: return Visit(s->As<Assign>()->value) && All(s->As<Assign>()->targets);
    case StmtKind::AugAssign: {
      const AugAssign* n = s->As<AugAssign>();
      return Visit(n->value) && Visit(n->target);
    }
    case StmtKind::AnnAssign: return AnnotatedAssign(s->As<AnnAssign>());
    case StmtKind::For: return Loop(s->As<For>());
    case StmtKind::AsyncFor:
      if (scope_->kind != ScopeKind::kAsyncFunction) return Fail(s->pos, "'async for' outside async function");
      return Loop(s->As<AsyncFor>());
    case StmtKind::While: {
      const While* n = s->As<While>();
      return Push(Block::kLoop, s->pos) && Visit(n->test) && Statements(n->body) && Pop() && Statements(n->orelse);
    }
    case StmtKind::If: {
      const If* n = s->As<If>();
      return Visit(n->test) && Statements(n->body) && Statements(n->orelse);
    }
    case StmtKind::With: return WithFrom(s->As<With>(), 0);
    case StmtKind::AsyncWith:
      if (scope_->kind != ScopeKind::kAsyncFunction) return Fail(s->pos, "'async with' outside async function");
      return WithFrom(s->As<AsyncWith>(), 0);
    case StmtKind::Match: return MatchStatement(s->As<Match>());
    case StmtKind::Raise: return Optional(s->As<Raise>()->exc) && Optional(s->As<Raise>()->cause);
    case StmtKind::Try: return Attempt(s->As<Try>(), false);
    case StmtKind::TryStar: return Attempt(s->As<TryStar>(), true);
    case StmtKind::Assert: return Visit(s->As<Assert>()->test) && Optional(s->As<Assert>()->msg);
    case StmtKind::Import: return Aliases(s->As<Import>()->names, s->pos);
    case StmtKind::ImportFrom: {
      const ImportFrom* n = s->As<ImportFrom>();
      if (s->pos.line > facts_.last_future_line && n->module != nullptr && n->module->text == "__future__") {
        return Fail(s->pos, "from __future__ imports must occur at the beginning of the file");
      }
      return Aliases(n->names, s->pos);
    }
    case StmtKind::Expr: return Visit(s->As<Expr>()->value);
    case StmtKind::Break: return Jump(s, "'break' outside loop");
    case StmtKind::Continue: return Jump(s, "'continue' not properly in loop");
    case StmtKind::Global:
    case StmtKind::Nonlocal:
    case StmtKind::Pass: return true;
  }
  return true;
}

bool CompileChecker::ArgumentNames(const Arguments& args, const Position& pos) {
  if (debug_ == nullptr) return true;
  for (Seq<Arg> list : {args.posonlyargs, args.args, args.kwonlyargs}) {
    for (const Arg* a : list) {
      if (!MayBind(a->arg, pos)) return false;
    }
  }
  for (const Arg* a : {args.vararg, args.kwarg}) {
    if (a != nullptr && !MayBind(a->arg, pos)) return false;
  }
  return true;
}

bool CompileChecker::Annotations(const Arguments& args, const ExprNode* returns) {
  if (facts_.future_annotations) return true;  // kept as text
  const auto visit = [&](const Arg* a) {
    if (a == nullptr || a->annotation == nullptr) return true;
    const Starred* starred = a->annotation->AsOrNull<Starred>();  // *args: *Ts
    return Visit(starred != nullptr ? starred->value : a->annotation);
  };
  const auto all = [&](Seq<Arg> list) {
    for (const Arg* a : list) {
      if (!visit(a)) return false;
    }
    return true;
  };
  return all(args.args) && all(args.posonlyargs) && visit(args.vararg) && all(args.kwonlyargs) && visit(args.kwarg) &&
         Optional(returns);
}

template <typename Node>
bool CompileChecker::Function(const Node* f) {
  if (!ArgumentNames(*f->args, f->pos) || !All(f->decorator_list)) return false;
  if (!All(f->args->defaults) || !All(f->args->kw_defaults) || !TypeParams(TypeParamsOf(ast_, f))) return false;
  if (!Annotations(*f->args, f->returns)) return false;
  {
    const bool asynchronous = f->node_kind == StmtKind::AsyncFunctionDef;
    Enter enter(this, asynchronous ? ScopeKind::kAsyncFunction : ScopeKind::kFunction, f);
    if (!Statements(f->body)) return false;
  }
  return MayBind(f->name, f->pos);
}

bool CompileChecker::TypeParams(Seq<TypeParam> params) {
  for (const TypeParam* p : params) {
    if (!MayBind(p->name, p->pos) || !Lazily(p->bound) || !Lazily(p->default_value)) return false;
  }
  return true;
}

bool CompileChecker::Lazily(const Lambda* lambda) {
  if (lambda == nullptr) return true;
  Enter enter(this, ScopeKind::kLambda, lambda);
  const Starred* starred = lambda->body->AsOrNull<Starred>();
  return Visit(starred != nullptr ? starred->value : lambda->body);
}

bool CompileChecker::Class(const ClassDef* c) {
  if (!All(c->decorator_list) || !TypeParams(TypeParamsOf(ast_, c))) return false;
  {
    Enter enter(this, ScopeKind::kClass, c);
    if (!Statements(c->body)) return false;
  }
  if (!KeywordNames(c->keywords) || !Elements(nullptr, c->bases, false)) return false;
  for (const Keyword* k : c->keywords) {
    if (!Visit(k->value)) return false;
  }
  return MayBind(c->name, c->pos);
}

bool CompileChecker::ReturnStatement(const Return* r) {
  if (!scope_->IsFunction()) return Fail(r->pos, "'return' outside function");
  if (r->value != nullptr && scope_->flags.coroutine && scope_->flags.generator) {
    return Fail(r->pos, "'return' with value in async generator");
  }
  if (!Optional(r->value)) return false;
  for (Block block : scope_->blocks) {
    if (block != Block::kExceptStar) continue;
    return Fail(r->pos, "'break', 'continue' and 'return' cannot appear in an except* block");
  }
  return true;
}

bool CompileChecker::Jump(const StmtNode* s, const char* outside) {
  for (size_t i = scope_->blocks.size(); i-- > 0;) {
    if (scope_->blocks[i] == Block::kLoop) return true;
    if (scope_->blocks[i] == Block::kExceptStar) {
      return Fail(s->pos, "'break', 'continue' and 'return' cannot appear in an except* block");
    }
  }
  return Fail(s->pos, outside);
}

template <typename Node>
bool CompileChecker::Loop(const Node* n) {
  return Push(Block::kLoop, n->pos) && Visit(n->iter) && Visit(n->target) && Statements(n->body) && Pop() &&
         Statements(n->orelse);
}

template <typename Node>
bool CompileChecker::WithFrom(const Node* n, size_t item) {
  size_t pushed = 0;
  for (; item < n->items.size(); ++item, ++pushed) {
    if (!Visit(n->items[item]->context_expr) || !Push(Block::kOther, n->pos)) return false;
    if (!Optional(n->items[item]->optional_vars)) return false;
  }
  if (!Statements(n->body)) return false;
  scope_->blocks.resize(scope_->blocks.size() - pushed);
  return true;
}

template <typename Node>
bool CompileChecker::Attempt(const Node* n, bool star) {
  if (n->finalbody.empty()) return AttemptExcept(n, star);
  if (!Push(Block::kOther, n->pos)) return false;
  if (!(n->handlers.empty() ? Statements(n->body) : AttemptExcept(n, star))) return false;
  Pop();
  // The body of `finally` is compiled twice: for the normal exit, and in a block of its own.
  if (!Statements(n->finalbody)) return false;
  if (scope_->blocks.size() >= kMaxBlocks) return Fail(n->finalbody[0]->pos, "too many statically nested blocks");
  return true;
}

template <typename Node>
bool CompileChecker::AttemptExcept(const Node* n, bool star) {
  if (!Push(Block::kOther, n->pos) || !Statements(n->body)) return false;
  Pop();
  if (star) return Handlers(n, true) && Statements(n->orelse);
  return Statements(n->orelse) && Handlers(n, false);
}

template <typename Node>
bool CompileChecker::Handlers(const Node* n, bool star) {
  if (!Push(star ? Block::kExceptStar : Block::kOther, n->pos)) return false;
  for (size_t i = 0; i < n->handlers.size(); ++i) {
    const ExceptHandler* h = n->handlers[i];
    if (h->type == nullptr && i + 1 < n->handlers.size()) return Fail(h->pos, "default 'except:' must be last");
    if (!Optional(h->type) || !MayBind(h->name, h->pos)) return false;
    if (!Push(Block::kOther, h->pos) || !Statements(h->body)) return false;
    Pop();
  }
  return Pop();
}

bool CompileChecker::AnnotatedAssign(const AnnAssign* a) {
  if (IsTypeAlias(a)) return Visit(a->target) && TypeParams(TypeParamsOf(ast_, a)) && Lazily(a->value->As<Lambda>());
  if (a->value != nullptr && (!Visit(a->value) || !Visit(a->target))) return false;
  const bool evaluated = !scope_->IsFunction() && !facts_.future_annotations;
  switch (a->target->node_kind) {
    case ExprKind::Name:
      if (!MayBind(a->target->As<Name>()->id, a->pos)) return false;
      break;
    case ExprKind::Attribute:
      if (!MayBind(a->target->As<Attribute>()->attr, a->pos)) return false;
      if (a->value == nullptr && !Visit(a->target->As<Attribute>()->value)) return false;
      break;
    default:
      if (a->value == nullptr && !Visit(a->target)) return false;
      break;
  }
  return !evaluated || Visit(a->annotation);
}

bool CompileChecker::Aliases(Seq<Alias> names, const Position& pos) {
  if (debug_ == nullptr) return true;
  for (const Alias* alias : names) {
    if (!MayBind(alias->asname != nullptr ? alias->asname : alias->name, pos)) return false;
  }
  return true;
}

bool CompileChecker::KeywordNames(Seq<Keyword> keywords) {
  if (keywords.size() < 2 && debug_ == nullptr) return true;
  // CPython compares each keyword with all later ones: it reports the first repeated name, at its
  // first repetition.
  constexpr size_t kFew = 16;
  if (keywords.size() > kFew) {
    absl::flat_hash_set<Identifier> seen;
    bool repeated = debug_ != nullptr;
    for (const Keyword* k : keywords) repeated |= k->arg != nullptr && !seen.insert(k->arg).second;
    if (!repeated) return true;
  }
  for (size_t i = 0; i < keywords.size(); ++i) {
    if (keywords[i]->arg == nullptr) continue;
    if (!MayBind(keywords[i]->arg, keywords[i]->pos)) return false;
    for (size_t j = i + 1; j < keywords.size(); ++j) {
      if (keywords[j]->arg != keywords[i]->arg) continue;
      return Fail(keywords[j]->pos, absl::StrCat("keyword argument repeated: ", keywords[i]->arg->text));
    }
  }
  return true;
}

// ---- expressions ----

bool CompileChecker::Visit(const ExprNode* e) {
  switch (e->node_kind) {
    case ExprKind::Constant: return true;
    case ExprKind::Name: {
      const Name* n = e->As<Name>();
      return n->ctx == ExprContext::Load || MayBind(n->id, e->pos, n->ctx == ExprContext::Del);
    }
    case ExprKind::Attribute: {
      const Attribute* n = e->As<Attribute>();
      if (!Visit(n->value)) return false;
      return n->ctx == ExprContext::Load || MayBind(n->attr, e->pos, n->ctx == ExprContext::Del);
    }
    case ExprKind::Starred:
      if (e->As<Starred>()->ctx == ExprContext::Store) {
        return Fail(e->pos, "starred assignment target must be in a list or tuple");
      }
      return Fail(e->pos, "can't use starred expression here");
    case ExprKind::List: return Elements(e, e->As<List>()->elts, e->As<List>()->ctx == ExprContext::Store);
    case ExprKind::Tuple: return Elements(e, e->As<Tuple>()->elts, e->As<Tuple>()->ctx == ExprContext::Store);
    case ExprKind::Set: return Elements(e, e->As<Set>()->elts, false);
    case ExprKind::Call: {
      const Call* n = e->As<Call>();
      if (!Visit(n->func) || !KeywordNames(n->keywords) || !Elements(nullptr, n->args, false)) return false;
      for (const Keyword* k : n->keywords) {
        if (!Visit(k->value)) return false;
      }
      return true;
    }
    case ExprKind::Lambda: {
      const Lambda* n = e->As<Lambda>();
      if (!ArgumentNames(*n->args, e->pos) || !All(n->args->defaults) || !All(n->args->kw_defaults)) return false;
      Enter enter(this, ScopeKind::kLambda, e);
      return Visit(n->body);
    }
    case ExprKind::ListComp:
    case ExprKind::SetComp:
    case ExprKind::DictComp:
    case ExprKind::GeneratorExp: return VisitComprehension(e);
    case ExprKind::Yield:
      if (!scope_->IsFunction()) return Fail(e->pos, "'yield' outside function");
      return Optional(e->As<Yield>()->value);
    case ExprKind::YieldFrom:
      if (!scope_->IsFunction()) return Fail(e->pos, "'yield' outside function");
      if (scope_->kind == ScopeKind::kAsyncFunction) return Fail(e->pos, "'yield from' inside async function");
      return Visit(e->As<YieldFrom>()->value);
    case ExprKind::Await: return VisitAwait(e);
    default: return VisitChildren(e, [this](const ExprNode* child) { return Visit(child); });
  }
}

// Elements of a list, tuple or set (e), or arguments of a call (null), which may have a star.
bool CompileChecker::Elements(const ExprNode* e, Seq<ExprNode> elements, bool store) {
  if (store) {
    bool starred = false;
    for (size_t i = 0; i < elements.size(); ++i) {
      if (!elements[i]->Is<Starred>()) continue;
      if (starred) return Fail(e->pos, "multiple starred expressions in assignment");
      if (i >= 256) return Fail(e->pos, "too many expressions in star-unpacking assignment");
      starred = true;
    }
  }
  for (const ExprNode* element : elements) {
    if (!Visit(element->Is<Starred>() ? element->As<Starred>()->value : element)) return false;
  }
  return true;
}

bool CompileChecker::VisitAwait(const ExprNode* e) {
  if (!scope_->IsFunction()) return Fail(e->pos, "'await' outside function");
  if (scope_->kind != ScopeKind::kAsyncFunction && scope_->kind != ScopeKind::kComprehension) {
    return Fail(e->pos, "'await' outside async function");
  }
  return Visit(e->As<Await>()->value);
}

bool CompileChecker::VisitComprehension(const ExprNode* e) {
  const ComprehensionParts parts = PartsOf(e);
  {
    Enter enter(this, ScopeKind::kComprehension, e);
    const ScopeKind outer = enter.outer().kind;
    if (scope_->flags.coroutine && !e->Is<GeneratorExp>() && outer != ScopeKind::kAsyncFunction &&
        outer != ScopeKind::kComprehension) {
      return Fail(e->pos, "asynchronous comprehension outside of an asynchronous function");
    }
    if (!VisitGenerators(parts, 0)) return false;
  }
  return Visit(parts.generators[0]->iter);
}

bool CompileChecker::VisitGenerators(const ComprehensionParts& parts, size_t index) {
  for (; index < parts.generators.size(); ++index) {
    const Comprehension* g = parts.generators[index];
    if (index > 0 && !Visit(g->iter)) return false;
    if (!Visit(g->target) || !All(g->ifs)) return false;
  }
  return Visit(parts.elt) && Optional(parts.value);
}

bool CompileChecker::MatchStatement(const Match* m) {
  const auto visit = [this](const ExprNode* e) { return Visit(e); };
  if (!Visit(m->subject)) return false;
  for (size_t i = 0; i < m->cases.size(); ++i) {
    const MatchCase* c = m->cases[i];
    const bool last = i + 1 == m->cases.size();
    const MatchAs* as = c->pattern->AsOrNull<MatchAs>();
    const bool is_default = last && i > 0 && as != nullptr && as->name == nullptr;
    const bool allow_irrefutable = c->guard != nullptr || last;
    if (!is_default && !CheckPattern(ast_, c->pattern, allow_irrefutable, visit, problem_)) return false;
    if (!Optional(c->guard) || !Statements(c->body)) return false;
  }
  return true;
}

}  // namespace

bool CheckCompile(const Ast& ast, const ScopeFacts& facts, SyntaxProblem* problem) {
  return CompileChecker(ast, facts, problem).Run();
}

}  // namespace ast
}  // namespace cobra::python
