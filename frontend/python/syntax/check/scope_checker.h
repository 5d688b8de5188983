// Names and scopes, following CPython's symtable.c: each scope has a set of flags for each name,
// and contradictory flags are an error. check_scopes.cc visits the tree, in CPython's order,
// because only the first error is reported; scope_analysis.cc then looks at the scopes.
#ifndef COBRA_FRONTEND_PYTHON_SYNTAX_CHECK_SCOPE_CHECKER_H_
#define COBRA_FRONTEND_PYTHON_SYNTAX_CHECK_SCOPE_CHECKER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontend/python/syntax/check/check_internal.h"

namespace cobra::python {
namespace ast {

class ScopeChecker {
 public:
  ScopeChecker(const Ast& ast, ScopeFacts* facts, SyntaxProblem* problem)
      : ast_(ast), facts_(facts), problem_(problem), index_(ast.symbols().size(), -1) {}

  bool Run() {
    Enter(Scope::Kind::kModule);
    const bool ok = ast_.module() != nullptr ? Statements(ast_.module()->body) : Visit(ast_.expression()->body);
    return ok && (!has_directives_ || Analyse());
  }

 private:
  // What is known of a name in one scope.
  enum Flag : uint16_t {
    kGlobal = 1,
    kLocal = 2,
    kParam = 4,
    kNonlocal = 8,
    kUse = 16,
    kImport = 32,
    kAnnotated = 64,
    kIterationVariable = 128,  // of a comprehension
    kTypeParam = 256,
  };

  struct Scope {
    enum class Kind { kModule, kClass, kFunction, kAnnotation, kTypes };
    struct Entry {
      Identifier name;
      uint16_t flags;
    };
    struct Directive {  // a `global`, a `nonlocal`, or `:=` in a comprehension
      Identifier name;
      Position pos;
    };
    Kind kind = Kind::kModule;
    int parent = -1;
    const ExprNode* comprehension = nullptr;
    const char* what = "an annotation";  // kTypes: "a type alias", "the definition of a generic" ...
    bool coroutine = false;
    bool generator = false;
    bool in_iteration_target = false;
    int in_iterable = 0;
    bool analysed = true;  // false: in an annotation that is never evaluated
    std::vector<Entry> entries;
    std::vector<Directive> directives;
    std::vector<std::pair<uint32_t, int32_t>> shadowed;  // (symbol id, previous value of index_), restored at the end
  };

  Scope& current() { return scopes_[current_]; }

  void Enter(Scope::Kind kind, const ExprNode* comprehension = nullptr) {
    Scope scope;
    scope.kind = kind;
    scope.parent = current_;
    scope.comprehension = comprehension;
    if (current_ >= 0) {
      scope.in_iterable = current().in_iterable;
      scope.analysed = kind != Scope::Kind::kAnnotation && current().analysed;
    }
    current_ = static_cast<int>(scopes_.size());
    scopes_.push_back(std::move(scope));
  }
  void Leave(const void* node) {
    Scope& scope = current();
    for (size_t i = scope.shadowed.size(); i-- > 0;) index_[scope.shadowed[i].first] = scope.shadowed[i].second;
    scope.shadowed = {};
    if (node != nullptr && (scope.coroutine || scope.generator))
      facts_->functions[node] = {scope.coroutine, scope.generator};
    current_ = scope.parent;
  }

  bool Fail(const Position& pos, std::string message) {
    *problem_ = {SyntaxProblem::Kind::kSyntax, std::move(message), pos.line, pos.col + 1};
    return false;
  }
  bool FailName(const Position& pos, absl::string_view before, Identifier name, absl::string_view after) {
    return Fail(pos, absl::StrCat(before, "'", name->text, "'", after));
  }

  // The flags of `name` in scope `s`. For the current scope, index_ gives them directly.
  uint16_t FlagsIn(int s, Identifier name) const {
    const std::vector<Scope::Entry>& entries = scopes_[s].entries;
    if (s == current_) {
      const int32_t i = index_[name->id];
      const bool here = i >= 0 && i < static_cast<int32_t>(entries.size()) && entries[i].name == name;
      return here ? entries[i].flags : 0;
    }
    for (const Scope::Entry& entry : entries) {
      if (entry.name == name) return entry.flags;
    }
    return 0;
  }

  uint16_t* EntryIn(int s, Identifier name) {
    Scope& scope = scopes_[s];
    if (s == current_) {
      const int32_t i = index_[name->id];
      if (i >= 0 && i < static_cast<int32_t>(scope.entries.size()) && scope.entries[i].name == name) {
        return &scope.entries[i].flags;
      }
      scope.shadowed.push_back({name->id, i});
      index_[name->id] = static_cast<int32_t>(scope.entries.size());
    } else {
      for (Scope::Entry& entry : scope.entries) {
        if (entry.name == name) return &entry.flags;
      }
      // index_ must contain the entry when that scope is current again.
      PutBelow(s, name, static_cast<int32_t>(scope.entries.size()));
    }
    scope.entries.push_back({name, 0});
    return &scope.entries.back().flags;
  }
  // If a scope between the current one and `outer` shadows `name`, the outermost of these holds the
  // value that index_ will have when `outer` is current.
  void PutBelow(int outer, Identifier name, int32_t position) {
    int32_t* slot = &index_[name->id];
    for (int s = current_; s != outer; s = scopes_[s].parent) {
      for (auto& shadow : scopes_[s].shadowed) {
        if (shadow.first == name->id) slot = &shadow.second;
      }
    }
    scopes_[outer].shadowed.push_back({name->id, *slot});
    *slot = position;
  }

  bool Add(Identifier name, uint16_t flag, const Position& pos) { return AddIn(current_, name, flag, pos); }
  bool AddIn(int s, Identifier name, uint16_t flag, const Position& pos) {
    uint16_t* flags = EntryIn(s, name);
    if ((flag & kParam) && (*flags & kParam))
      return FailName(pos, "duplicate argument ", name, " in function definition");
    *flags |= flag;
    if (!scopes_[s].in_iteration_target) return true;
    if (*flags & (kGlobal | kNonlocal)) {
      return FailName(pos, "comprehension inner loop cannot rebind assignment expression target ", name, "");
    }
    *flags |= kIterationVariable;
    return true;
  }
  void AddDirective(Identifier name, const Position& pos) {
    current().directives.push_back({name, pos});
    has_directives_ = true;
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
  bool Keywords(Seq<Keyword> keywords) {
    for (const Keyword* k : keywords) {
      if (!Visit(k->value)) return false;
    }
    return true;
  }

  bool Statement(const StmtNode* s);
  template <typename Node>
  bool Function(const Node* f);
  bool Class(const ClassDef* c);
  bool TypeParams(Seq<TypeParam> params);
  bool Lazily(const Lambda* lambda, const char* what);
  bool AliasStatement(const AnnAssign* s);
  bool AnnotatedAssign(const AnnAssign* a);
  bool Declare(const StmtNode* s, IdentifierSeq names, bool global);
  bool Aliases(Seq<Alias> names);
  bool WithItems(Seq<WithItem> items);
  bool Handlers(Seq<ExceptHandler> handlers);
  bool Pattern(const PatternNode* p);
  bool Patterns(Seq<PatternNode> patterns) {
    for (const PatternNode* p : patterns) {
      if (!Pattern(p)) return false;
    }
    return true;
  }
  bool Annotation(const ExprNode* annotation);
  bool ParameterAnnotations(const Arguments& args);
  bool Parameters(const Arguments& args);
  bool Visit(const ExprNode* e);
  bool NamedExpression(const NamedExpr* e);
  bool BindOutside(const NamedExpr* e, Identifier name);
  bool VisitComprehension(const ExprNode* e);
  bool Generator(const Comprehension* g, bool outermost);
  bool NotInAnnotation(const ExprNode* e, absl::string_view what) {
    if (current().kind == Scope::Kind::kTypes)
      return Fail(e->pos, absl::StrCat(what, " cannot be used within ", current().what));
    if (current().kind != Scope::Kind::kAnnotation) return true;
    return Fail(e->pos, facts_->version < 13 ? absl::StrCat("'", what, "' can not be used within an annotation")
                                             : absl::StrCat(what, " cannot be used within an annotation"));
  }
  bool Analyse();
  bool FailAtDirective(const Scope& scope, Identifier name, std::string message);
  bool BoundOutside(const Scope& scope, Identifier name) const;
  // Whether what binds it outside is the list of type parameters.
  bool IsTypeParam(const Scope& scope, Identifier name) const;

  const Ast& ast_;
  ScopeFacts* facts_;
  SyntaxProblem* problem_;
  std::vector<Scope> scopes_;
  int current_ = -1;
  bool has_directives_ = false;
  std::vector<int32_t> index_;  // symbol id -> its entry in the current scope, if that entry has the same name
};

}  // namespace ast
}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_SYNTAX_CHECK_SCOPE_CHECKER_H_
