// The passes over the scopes of a tree (scope.h). The first one walks the tree once and notes, for
// each scope, what is bound, declared and used (scope.cc). The others look only at what it noted
// (scope_slots.cc).
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_SCOPE_PASSES_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_SCOPE_PASSES_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "frontend/python/runtime/interpreter/scope.h"

namespace cobra::python {

// One scope of a tree while its names are resolved.
struct NotedScope {
  enum Flag : uint8_t { kBound = 1, kUsed = 2, kDeclaredGlobal = 4, kDeclaredNonlocal = 8, kCaptured = 16 };

  ScopeInfo* info;
  uint32_t index;
  NotedScope* parent;
  NotedScope* frame;                     // this scope, or for a comprehension the scope whose frame it uses
  ast::Identifier class_name = nullptr;  // of the innermost class, for mangling
  absl::flat_hash_map<ast::Identifier, uint8_t> flags;
  std::vector<ast::Identifier> order;  // in order of first mention, so that slots are deterministic
  std::vector<std::pair<ast::Identifier, uint32_t>> nodes;  // Name nodes: (name, node id)
  absl::flat_hash_map<ast::Identifier, Ref> resolved;
  absl::flat_hash_map<ast::Identifier, uint32_t> free_index;
  absl::flat_hash_map<ast::Identifier, NotedScope*> homes;  // of the names in free_index
  // Variables of enclosing scopes that a comprehension uses.
  std::vector<std::pair<ast::Identifier, NotedScope*>> same_frame;
  bool needs_class_cell = false;
  bool is_types = false;  // only type parameters: every other name is the enclosing scope's
};

using NotedScopes = std::vector<std::unique_ptr<NotedScope>>;  // parents before children

// Resolve() finds for every used name the scope that binds it, and adds free variables to the
// frames between the two scopes. Assign() numbers the slots, Finish() writes the side table.
class SlotAssigner {
 public:
  // `class_symbol`: __class__.
  SlotAssigner(const NotedScopes& scopes, ast::Identifier class_symbol, ResolvedAst* out)
      : scopes_(scopes), class_symbol_(class_symbol), out_(out) {}
  void Run();

 private:
  NotedScope* FindHome(NotedScope* from, ast::Identifier name);
  bool HasNamespace(const NotedScope* scope) const;
  void Resolve(NotedScope* scope);
  void AddFree(NotedScope* scope, NotedScope* home, ast::Identifier name);
  void Assign(NotedScope* scope);
  void Finish(NotedScope* scope);

  const NotedScopes& scopes_;
  const ast::Identifier class_symbol_;
  ResolvedAst* out_;
};

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_SCOPE_PASSES_H_
