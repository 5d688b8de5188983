// The first pass: what each scope binds, declares and uses. Recursion is bounded by
// Limits::syntax_depth (the interpreter's stack is far larger).
#include "frontend/python/runtime/interpreter/scope.h"

#include "frontend/python/runtime/interpreter/scope_passes.h"
#include "frontend/python/syntax/type_params.h"
#include "frontend/python/syntax/walk.h"

namespace cobra::python {

using ast::ExprKind;
using ast::Identifier;
using ast::StmtKind;

namespace {
// The call has no * and no **, and few enough arguments to keep them on the native stack.
bool IsPlainCall(const ast::Call* call) {
  bool plain = call->args.size() + call->keywords.size() <= 64;
  for (const ast::ExprNode* a : call->args) plain = plain && !a->Is<ast::Starred>();
  for (const ast::Keyword* k : call->keywords) plain = plain && k->arg != nullptr;
  return plain;
}
}  // namespace

class Resolver {
 public:
  explicit Resolver(ResolvedAst* out) : out_(out) {}

  void Run() {
    const ast::Ast& ast = out_->ast();
    out_->table_.assign(ast.node_count(), 0);
    out_->guesses_ = std::make_unique<std::atomic<uint16_t>[]>(ast.node_count());
    class_symbol_ = ast.FindSymbol("__class__");
    if (class_symbol_ == nullptr) class_symbol_ = NewSymbol("__class__");
    super_symbol_ = ast.FindSymbol("super");
    Open(ScopeKind::kModule, {});
    if (ast.module() != nullptr) {
      current_->info->body = ast.module()->body;
      VisitBody(ast.module()->body);
    } else {
      VisitExpr(ast.expression()->body);
    }
    Close();
    SlotAssigner(scopes_, class_symbol_, out_).Run();
  }

 private:
  using Scope = NotedScope;

  Identifier NewSymbol(absl::string_view text) {
    out_->mangled_text_.emplace_back(text.data(), text.size());
    ast::Symbol symbol;
    symbol.text = out_->mangled_text_.back();
    symbol.id = static_cast<uint32_t>(out_->ast_->symbols().size() + out_->mangled_.size());
    out_->mangled_.push_back(symbol);
    return out_->mangled_symbols_[symbol.text] = &out_->mangled_.back();
  }

  // __x in class C is _C__x.
  Identifier Mangle(Identifier name) {
    if (name == nullptr || current_->class_name == nullptr) return name;
    absl::string_view text = name->text;
    if (text.size() < 3 || text[0] != '_' || text[1] != '_' ||
        (text[text.size() - 1] == '_' && text[text.size() - 2] == '_'))
      return name;
    absl::string_view cls = current_->class_name->text;
    while (!cls.empty() && cls[0] == '_') cls.remove_prefix(1);
    if (cls.empty()) return name;
    std::string mangled = "_" + std::string(cls) + std::string(text);
    if (Identifier known = out_->FindSymbol(mangled)) return known;
    return NewSymbol(mangled);
  }

  Scope* Open(ScopeKind kind, ast::Position pos) {
    auto info = std::make_unique<ScopeInfo>();
    info->kind = kind;
    info->pos = pos;
    auto scope = std::make_unique<Scope>();
    scope->info = info.get();
    scope->index = static_cast<uint32_t>(scopes_.size());
    scope->parent = current_;
    scope->frame = kind == ScopeKind::kComprehension ? current_->frame : scope.get();
    if (current_ != nullptr) {
      scope->class_name = current_->class_name;
      const ScopeInfo& outer = *current_->frame->info;
      if (outer.kind == ScopeKind::kClass) {
        info->qualname_prefix = outer.qualname_prefix + std::string(outer.name->text) + ".";
      } else if (outer.kind != ScopeKind::kModule) {
        std::string name = outer.kind == ScopeKind::kLambda      ? "<lambda>"
                           : outer.kind == ScopeKind::kGenerator ? "<genexpr>"
                                                                 : std::string(outer.name->text);
        info->qualname_prefix = outer.qualname_prefix + name + ".<locals>.";
      }
    }
    out_->scopes_.push_back(std::move(info));
    scopes_.push_back(std::move(scope));
    current_ = scopes_.back().get();
    return current_;
  }
  void Close() { current_ = current_->parent; }

  void Note(Scope* scope, Identifier name, uint8_t flag) {
    auto [it, is_new] = scope->flags.try_emplace(name, 0);
    if (is_new) scope->order.push_back(name);
    it->second |= flag;
  }
  void Bind(Identifier name) {
    Identifier mangled = Mangle(name);
    if (mangled != name) current_->info->mangled[name] = mangled;
    Note(current_, mangled, Scope::kBound);
  }
  void BindDotted(const ast::Alias* alias) {
    if (alias->asname != nullptr) return Bind(alias->asname);
    if (alias->name->text == "*") return;
    size_t dot = alias->name->text.find('.');
    if (dot == absl::string_view::npos) return Bind(alias->name);
    Bind(FirstPart(alias->name->text.substr(0, dot)));
  }
  Identifier FirstPart(absl::string_view text) {
    if (Identifier known = out_->FindSymbol(text)) return known;
    return NewSymbol(text);
  }

  void VisitBody(ast::Seq<ast::StmtNode> body) {
    for (const ast::StmtNode* s : body) VisitStmt(s);
  }
  void VisitExprs(ast::Seq<ast::ExprNode> exprs) {
    for (const ast::ExprNode* e : exprs) VisitExpr(e);
  }

  void VisitArguments(const ast::Arguments* args) {  // in the scope of the function
    ScopeInfo* info = current_->info;
    auto declare = [&](const ast::Arg* arg) { Note(current_, Mangle(arg->arg), Scope::kBound); };
    for (const ast::Arg* a : args->posonlyargs) declare(a);
    for (const ast::Arg* a : args->args) declare(a);
    for (const ast::Arg* a : args->kwonlyargs) declare(a);
    info->positional_only = static_cast<int>(args->posonlyargs.size());
    info->positional = info->positional_only + static_cast<int>(args->args.size());
    info->keyword_only = static_cast<int>(args->kwonlyargs.size());
    int next = info->positional + info->keyword_only;
    if (args->vararg != nullptr) {
      declare(args->vararg);
      info->vararg_slot = next++;
    }
    if (args->kwarg != nullptr) {
      declare(args->kwarg);
      info->kwarg_slot = next++;
    }
    info->args = args;
  }
  void VisitDefaults(const ast::Arguments* args) {  // in the enclosing scope
    VisitExprs(args->defaults);
    VisitExprs(args->kw_defaults);
  }
  void VisitAnnotations(const ast::Arguments* args) {
    auto visit = [&](const ast::Arg* a) {
      if (a != nullptr && a->annotation != nullptr) VisitExpr(a->annotation);
    };
    for (const ast::Arg* a : args->posonlyargs) visit(a);
    for (const ast::Arg* a : args->args) visit(a);
    visit(args->vararg);
    for (const ast::Arg* a : args->kwonlyargs) visit(a);
    visit(args->kwarg);
  }

  // Opens a scope whose variables are slots of the frame around it, as those of a comprehension,
  // and which the caller closes. False: there are no parameters and no scope.
  bool VisitTypeParams(const ast::StmtNode* s) {
    const ast::Seq<ast::TypeParam> params = ast::TypeParamsOf(out_->ast(), s);
    if (params.empty()) return false;
    Open(ScopeKind::kComprehension, params[0]->pos)->is_types = true;
    for (const ast::TypeParam* p : params) Bind(p->name);
    for (const ast::TypeParam* p : params) {
      current_->nodes.emplace_back(Mangle(p->name), p->node_id);
      VisitExpr(p->bound);
      VisitExpr(p->default_value);
    }
    return true;
  }
  void VisitTypeAlias(const ast::AnnAssign* s) {
    VisitExpr(s->target);
    const bool generic = VisitTypeParams(s);
    VisitExpr(s->value);
    if (generic) Close();
  }

  template <typename Def>
  void VisitFunction(const Def* def, bool is_async) {
    VisitExprs(def->decorator_list);
    VisitDefaults(def->args);
    Bind(def->name);
    size_t scopes_before = scopes_.size();
    const bool generic = VisitTypeParams(def);
    VisitAnnotations(def->args);
    VisitExpr(def->returns);
    bool simple_annotations = scopes_.size() == scopes_before;
    Scope* scope = Open(ScopeKind::kFunction, def->pos);
    out_->table_[def->node_id] = scope->index;
    scope->info->name = def->name;
    scope->info->is_async = is_async;
    scope->info->simple_annotations = simple_annotations;
    scope->info->body = def->body;
    VisitArguments(def->args);
    VisitBody(def->body);
    Close();
    if (generic) Close();
  }

  void VisitClass(const ast::ClassDef* def) {
    VisitExprs(def->decorator_list);
    Bind(def->name);
    const bool generic = VisitTypeParams(def);
    VisitExprs(def->bases);
    for (const ast::Keyword* k : def->keywords) VisitExpr(k->value);
    Scope* scope = Open(ScopeKind::kClass, def->pos);
    out_->table_[def->node_id] = scope->index;
    scope->info->name = def->name;
    scope->info->body = def->body;
    scope->class_name = def->name;
    VisitBody(def->body);
    Close();
    if (generic) Close();
  }

  void VisitHandlers(ast::Seq<ast::ExceptHandler> handlers) {
    for (const ast::ExceptHandler* h : handlers) {
      VisitExpr(h->type);
      if (h->name != nullptr) Bind(h->name);
      VisitBody(h->body);
    }
  }
  template <typename T>
  void VisitFor(const T* s) {
    VisitExpr(s->target);
    VisitExpr(s->iter);
    VisitBody(s->body);
    VisitBody(s->orelse);
  }
  template <typename T>
  void VisitWith(const T* s) {
    for (const ast::WithItem* item : s->items) {
      VisitExpr(item->context_expr);
      VisitExpr(item->optional_vars);
    }
    VisitBody(s->body);
  }
  template <typename T>
  void VisitTry(const T* s) {
    VisitBody(s->body);
    VisitHandlers(s->handlers);
    VisitBody(s->orelse);
    VisitBody(s->finalbody);
  }

  void VisitMatch(const ast::Match* s) {
    VisitExpr(s->subject);
    for (const ast::MatchCase* c : s->cases) {
      VisitPattern(c->pattern);
      VisitExpr(c->guard);
      VisitBody(c->body);
    }
  }
  void VisitImportFrom(const ast::ImportFrom* s) {
    const bool future = s->level == 0 && s->module != nullptr && s->module->text == "__future__";
    for (const ast::Alias* a : s->names) {
      if (future && a->name->text == "annotations") out_->future_annotations_ = true;
      BindDotted(a);
    }
  }

  void VisitStmt(const ast::StmtNode* s) {
    switch (s->node_kind) {
      case StmtKind::FunctionDef: return VisitFunction(s->As<ast::FunctionDef>(), false);
      case StmtKind::AsyncFunctionDef: return VisitFunction(s->As<ast::AsyncFunctionDef>(), true);
      case StmtKind::ClassDef: return VisitClass(s->As<ast::ClassDef>());
      case StmtKind::Return: return VisitExpr(s->As<ast::Return>()->value);
      case StmtKind::Delete: return VisitExprs(s->As<ast::Delete>()->targets);
      case StmtKind::Assign: VisitExpr(s->As<ast::Assign>()->value); return VisitExprs(s->As<ast::Assign>()->targets);
      case StmtKind::AugAssign:
        VisitExpr(s->As<ast::AugAssign>()->value);
        return VisitExpr(s->As<ast::AugAssign>()->target);
      case StmtKind::AnnAssign: {
        const auto* a = s->As<ast::AnnAssign>();
        if (ast::IsTypeAlias(a)) return VisitTypeAlias(a);
        VisitExpr(a->annotation);
        VisitExpr(a->value);
        return VisitExpr(a->target);
      }
      case StmtKind::For: return VisitFor(s->As<ast::For>());
      case StmtKind::AsyncFor: return VisitFor(s->As<ast::AsyncFor>());
      case StmtKind::While:
        VisitExpr(s->As<ast::While>()->test);
        VisitBody(s->As<ast::While>()->body);
        return VisitBody(s->As<ast::While>()->orelse);
      case StmtKind::If:
        VisitExpr(s->As<ast::If>()->test);
        VisitBody(s->As<ast::If>()->body);
        return VisitBody(s->As<ast::If>()->orelse);
      case StmtKind::With: return VisitWith(s->As<ast::With>());
      case StmtKind::AsyncWith: return VisitWith(s->As<ast::AsyncWith>());
      case StmtKind::Match: return VisitMatch(s->As<ast::Match>());
      case StmtKind::Raise: VisitExpr(s->As<ast::Raise>()->exc); return VisitExpr(s->As<ast::Raise>()->cause);
      case StmtKind::Try: return VisitTry(s->As<ast::Try>());
      case StmtKind::TryStar: return VisitTry(s->As<ast::TryStar>());
      case StmtKind::Assert: VisitExpr(s->As<ast::Assert>()->test); return VisitExpr(s->As<ast::Assert>()->msg);
      case StmtKind::Import:
        for (const ast::Alias* a : s->As<ast::Import>()->names) BindDotted(a);
        return;
      case StmtKind::ImportFrom: return VisitImportFrom(s->As<ast::ImportFrom>());
      case StmtKind::Global:
        for (Identifier name : s->As<ast::Global>()->names) Note(current_, Mangle(name), Scope::kDeclaredGlobal);
        return;
      case StmtKind::Nonlocal:
        for (Identifier name : s->As<ast::Nonlocal>()->names) Note(current_, Mangle(name), Scope::kDeclaredNonlocal);
        return;
      case StmtKind::Expr: return VisitExpr(s->As<ast::Expr>()->value);
      case StmtKind::Pass:
      case StmtKind::Break:
      case StmtKind::Continue: return;
    }
  }

  void VisitPattern(const ast::PatternNode* p) {
    if (p == nullptr) return;
    switch (p->node_kind) {
      case ast::PatternKind::MatchValue: return VisitExpr(p->As<ast::MatchValue>()->value);
      case ast::PatternKind::MatchSingleton: return;
      case ast::PatternKind::MatchSequence:
        for (const auto* x : p->As<ast::MatchSequence>()->patterns) VisitPattern(x);
        return;
      case ast::PatternKind::MatchMapping: {
        const auto* m = p->As<ast::MatchMapping>();
        VisitExprs(m->keys);
        for (const auto* x : m->patterns) VisitPattern(x);
        if (m->rest != nullptr) Bind(m->rest);
        return;
      }
      case ast::PatternKind::MatchClass: {
        const auto* m = p->As<ast::MatchClass>();
        VisitExpr(m->cls);
        for (const auto* x : m->patterns) VisitPattern(x);
        for (const auto* x : m->kwd_patterns) VisitPattern(x);
        return;
      }
      case ast::PatternKind::MatchStar:
        if (p->As<ast::MatchStar>()->name != nullptr) Bind(p->As<ast::MatchStar>()->name);
        return;
      case ast::PatternKind::MatchAs: {
        const auto* m = p->As<ast::MatchAs>();
        VisitPattern(m->pattern);
        if (m->name != nullptr) Bind(m->name);
        return;
      }
      case ast::PatternKind::MatchOr:
        for (const auto* x : p->As<ast::MatchOr>()->patterns) VisitPattern(x);
        return;
    }
  }

  void VisitName(const ast::Name* n) {
    Identifier name = Mangle(n->id);
    Scope* scope = current_;
    while (scope->is_types && !scope->flags.contains(name)) scope = scope->parent;
    if (name != n->id) scope->info->mangled[n->id] = name;
    Note(scope, name, n->ctx == ast::ExprContext::Load ? Scope::kUsed : Scope::kBound);
    scope->nodes.emplace_back(name, n->node_id);
    if (name == super_symbol_ || name == class_symbol_) {
      // super() without arguments needs the class that encloses the method.
      if (current_->frame->info->kind != ScopeKind::kModule && current_->frame->info->kind != ScopeKind::kClass) {
        Note(current_->frame, class_symbol_, Scope::kUsed);
      }
    }
  }

  void VisitNamed(const ast::NamedExpr* e) {
    VisitExpr(e->value);
    const auto* target = e->target->As<ast::Name>();
    Identifier name = Mangle(target->id);
    Scope* home = current_;
    while (home->info->kind == ScopeKind::kComprehension || home->info->kind == ScopeKind::kGenerator)
      home = home->parent;
    if (home != current_) {
      Note(home, name, Scope::kBound);
      for (Scope* s = current_; s != home; s = s->parent) {
        Note(s, name, home->info->kind == ScopeKind::kModule ? Scope::kDeclaredGlobal : Scope::kUsed);
      }
    } else {
      Note(current_, name, Scope::kBound);
    }
    current_->nodes.emplace_back(name, target->node_id);
  }

  // The first iterable is evaluated in the enclosing scope, everything else inside.
  void VisitComprehension(const ast::ExprNode* e, ScopeKind kind) {
    const ast::ComprehensionParts parts = ast::PartsOf(e);
    VisitExpr(parts.generators[0]->iter);
    Scope* scope = Open(kind, e->pos);
    out_->table_[e->node_id] = scope->index;
    for (size_t i = 0; i < parts.generators.size(); ++i) {
      const ast::Comprehension* g = parts.generators[i];
      VisitExpr(g->target);
      if (i > 0) VisitExpr(g->iter);
      VisitExprs(g->ifs);
    }
    VisitExpr(parts.elt);
    VisitExpr(parts.value);
    Close();
  }

  void VisitLambda(const ast::Lambda* e) {
    VisitDefaults(e->args);
    Scope* scope = Open(ScopeKind::kLambda, e->pos);
    out_->table_[e->node_id] = scope->index;
    VisitArguments(e->args);
    scope->info->lambda_body = e->body;
    VisitExpr(e->body);
    Close();
  }

  void VisitConstant(const ast::Constant* e) {
    const ast::ConstantKind kind = e->constant_kind;
    if (kind == ast::ConstantKind::kStr || kind == ast::ConstantKind::kBytes || kind == ast::ConstantKind::kBigInt ||
        kind == ast::ConstantKind::kComplex) {
      out_->table_[e->node_id] = out_->constant_count_++;
    }
  }

  void VisitExpr(const ast::ExprNode* e) {
    if (e == nullptr) return;
    switch (e->node_kind) {
      case ExprKind::NamedExpr: return VisitNamed(e->As<ast::NamedExpr>());
      case ExprKind::Lambda: return VisitLambda(e->As<ast::Lambda>());
      case ExprKind::ListComp:
      case ExprKind::SetComp:
      case ExprKind::DictComp: return VisitComprehension(e, ScopeKind::kComprehension);
      case ExprKind::GeneratorExp: return VisitComprehension(e, ScopeKind::kGenerator);
      case ExprKind::Constant: return VisitConstant(e->As<ast::Constant>());
      case ExprKind::Name: return VisitName(e->As<ast::Name>());
      case ExprKind::Yield:
      case ExprKind::YieldFrom: current_->frame->info->is_generator = true; break;
      case ExprKind::Call: out_->table_[e->node_id] = IsPlainCall(e->As<ast::Call>()) ? 1 : 0; break;
      default: break;
    }
    ast::VisitChildren(e, [this](const ast::ExprNode* child) {
      VisitExpr(child);
      return true;
    });
    if (const auto* attribute = e->AsOrNull<ast::Attribute>()) out_->table_[e->node_id] = Mangle(attribute->attr)->id;
  }

  ResolvedAst* out_;
  Scope* current_ = nullptr;
  NotedScopes scopes_;
  Identifier class_symbol_ = nullptr;
  Identifier super_symbol_ = nullptr;
};

ResolvedAst::ResolvedAst(std::shared_ptr<const ast::Ast> ast) : ast_(std::move(ast)) { Resolver(this).Run(); }

int64_t ResolvedAst::memory_bytes() const {
  return ast_->memory_bytes() + static_cast<int64_t>(table_.size() * (sizeof(uint32_t) + sizeof(uint16_t)) +
                                                     scopes_.size() * sizeof(ScopeInfo));
}

}  // namespace cobra::python
