// The variable that each name refers to, resolved once per source file and shared by all
// interpreters.
//
// CPython's rules, with one change that programs cannot observe: list, set and dict comprehensions
// do not get a frame. Their variables are extra slots of the enclosing frame (as in
// CPython 3.12), which makes them cheap. Generator expressions are frames, because they outlive the
// expression.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_SCOPE_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_SCOPE_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "frontend/python/syntax/ast.h"

namespace cobra::python {

enum class RefKind : uint8_t {
  kName,       // class body or module: namespace, then globals, then builtins
  kGlobal,     // globals, then builtins
  kLocal,      // slot
  kCell,       // slot that holds a cell
  kFree,       // free variable of the frame's closure
  kClassFree,  // class body: namespace, then free variable
};

struct Ref {
  RefKind kind = RefKind::kName;
  uint32_t slot = 0;  // kName and kGlobal: of a Name node, the symbol after private-name mangling
};

enum class ScopeKind : uint8_t { kModule, kClass, kFunction, kLambda, kGenerator /* expression */, kComprehension };

struct ScopeInfo {
  ScopeKind kind = ScopeKind::kModule;
  bool is_generator = false;  // a def with yield
  bool is_async = false;
  const ast::Arguments* args = nullptr;  // kFunction, kLambda
  const ast::ExprNode* lambda_body = nullptr;
  ast::Seq<ast::StmtNode> body;
  ast::Identifier name = nullptr;  // of def and class
  std::string qualname_prefix;     // "Outer.method.<locals>." or ""
  ast::Position pos;

  // Slots: positional parameters, keyword-only ones, *args, **kwargs, other locals, variables of
  // comprehensions.
  int positional_only = 0, positional = 0 /* includes positional_only */, keyword_only = 0;
  int vararg_slot = -1, kwarg_slot = -1;
  int slot_count = 0;
  std::vector<ast::Identifier> slot_names;  // of parameters and locals; comprehension slots have none
  std::vector<uint32_t> cell_slots;         // made at entry; a parameter's value moves into its cell
  std::vector<ast::Identifier> free_names;
  // Per free name: its cell's slot in the enclosing frame, or ~index of that frame's own free
  // variable.
  std::vector<int32_t> closure_sources;
  int class_cell_slot = -1;  // kClass: where __class__ is
  int class_free = -1;       // index of __class__ in free_names
  // kComprehension: cells to create again at each start.
  std::vector<uint32_t> fresh_cells;
  absl::flat_hash_map<ast::Identifier, Ref> refs;                 // every name bound or used here
  absl::flat_hash_map<ast::Identifier, ast::Identifier> mangled;  // __private names here -> what they are stored as
  bool simple_annotations = false;  // of a function: they can be evaluated later, in a frame without slots

  // For names that are not bound by a Name node: def, class, import, except, match.
  ast::Identifier Mangled(ast::Identifier name) const {
    if (mangled.empty()) return name;
    auto it = mangled.find(name);
    return it == mangled.end() ? name : it->second;
  }
  Ref Resolve(ast::Identifier name) const {  // after Mangled()
    auto it = refs.find(name);
    return it == refs.end() ? Ref{RefKind::kGlobal, 0} : it->second;
  }
};

// An Ast with its names resolved. Immutable, process-wide.
class ResolvedAst {
 public:
  explicit ResolvedAst(std::shared_ptr<const ast::Ast> ast);

  const ast::Ast& ast() const { return *ast_; }
  // Of a Name node.
  static Ref RefOf(uint32_t entry) { return Ref{static_cast<RefKind>(entry >> 24), entry & 0xffffff}; }
  Ref ref(uint32_t node_id) const { return RefOf(table_[node_id]); }
  // By node: what ref() and the functions below read; of a Call, IsPlainCall (scope.cc).
  const uint32_t* table() const { return table_.data(); }
  // Per node: the last position of the name in its dictionary (DictTable::GetStr). Only a cache, so
  // that all interpreters may write to it.
  std::atomic<uint16_t>* guesses() const { return guesses_.get(); }
  // Of FunctionDef, Lambda, ClassDef, comprehensions and generator expressions.
  const ScopeInfo& scope(uint32_t node_id) const { return *scopes_[table_[node_id]]; }
  const ScopeInfo& root() const { return *scopes_[0]; }
  uint32_t constant_count() const { return constant_count_; }
  // Of an Attribute or keyword node: the symbol after private-name mangling. For nodes without a
  // table entry: ScopeInfo::Mangled.
  uint32_t attribute_symbol(uint32_t node_id) const { return table_[node_id]; }
  uint32_t symbol_count() const { return static_cast<uint32_t>(ast_->symbols().size() + mangled_.size()); }
  absl::string_view symbol_text(uint32_t id) const {
    size_t n = ast_->symbols().size();
    return id < n ? ast_->symbols()[id]->text : mangled_[id - n].text;
  }
  // Null if neither the tree nor the resolution of its names has that name.
  ast::Identifier FindSymbol(absl::string_view text) const {
    if (ast::Identifier known = ast_->FindSymbol(text)) return known;
    const auto it = mangled_symbols_.find(text);
    return it == mangled_symbols_.end() ? nullptr : it->second;
  }
  bool future_annotations() const { return future_annotations_; }
  int64_t memory_bytes() const;

 private:
  friend class Resolver;
  friend class SlotAssigner;
  std::shared_ptr<const ast::Ast> ast_;
  std::vector<uint32_t> table_;  // by node_id
  std::unique_ptr<std::atomic<uint16_t>[]> guesses_;
  std::vector<std::unique_ptr<ScopeInfo>> scopes_;
  // Names that the tree itself does not have: mangled ones, first parts of dotted ones
  std::deque<ast::Symbol> mangled_;
  std::deque<std::string> mangled_text_;
  absl::flat_hash_map<absl::string_view, ast::Identifier> mangled_symbols_;
  uint32_t constant_count_ = 0;
  bool future_annotations_ = false;
};

// Parses and resolves a source, or returns the cached result: a process caches sources by content
// (code_unit.cc).
absl::StatusOr<std::shared_ptr<const ResolvedAst>> ParseShared(absl::string_view source,
                                                               absl::string_view display_name);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_SCOPE_H_
