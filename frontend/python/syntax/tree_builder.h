// The storage of an Ast (a bump arena and an intern table) and the class that fills it. Used by the
// parser only.
#ifndef COBRA_FRONTEND_PYTHON_SYNTAX_TREE_BUILDER_H_
#define COBRA_FRONTEND_PYTHON_SYNTAX_TREE_BUILDER_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "frontend/python/syntax/ast.h"
#include "frontend/python/syntax/type_params.h"

namespace cobra::python {
namespace ast {

// Blocks that grow from 16 KB to 1 MB: a small expression costs one small block, a large file few
// large ones.
struct Ast::Storage {
  std::vector<std::unique_ptr<char[]>> blocks;
  char* next = nullptr;
  char* limit = nullptr;
  int64_t bytes = 0;
  std::vector<const Symbol*> table;  // open addressing; the size is a power of two
  size_t symbol_count = 0;
  absl::flat_hash_map<const StmtNode*, Seq<TypeParam>> type_params;  // of the statements that have any

  void* Allocate(size_t size) {
    size = (size + 7) & ~size_t{7};
    if (static_cast<size_t>(limit - next) < size) Grow(size);
    char* p = next;
    next += size;
    return p;
  }
  void Grow(size_t size);
};

class TreeBuilder {
 public:
  // `source` ends in '\n' unless it is empty.
  TreeBuilder(std::string source, std::string filename);

  // The text, followed by at least 8 readable zero bytes.
  absl::string_view source() const { return ast_->source_; }
  uint32_t node_count() const { return ast_->node_count_; }
  size_t name_count() const { return storage_->symbol_count; }
  void set_module(const Module* m) { ast_->module_ = m; }
  void set_expression(const Expression* e) { ast_->expression_ = e; }
  const Ast& ast() const { return *ast_; }
  static const auto& TypeParamsOf(const Ast& ast) { return ast.storage_->type_params; }
  void SetTypeParams(const StmtNode* statement, Seq<TypeParam> params) {
    if (!params.empty()) storage_->type_params[statement] = params;
  }
  std::shared_ptr<const Ast> Take() { return std::shared_ptr<const Ast>(std::move(ast_)); }

  // A node with its head filled in.
  template <typename T>
  T* Node(const Position& pos) {
    T* node = Plain<T>();
    node->node_kind = T::kKind;
    node->node_id = ast_->node_count_++;
    node->pos = pos;
    return node;
  }
  template <typename T>
  T* Plain() {
    static_assert(std::is_trivially_destructible<T>::value, "nothing in the arena is destroyed one by one");
    return new (storage_->Allocate(sizeof(T))) T();
  }
  template <typename T>
  absl::Span<const T> Copy(const T* items, size_t count) {
    static_assert(std::is_trivially_copyable<T>::value, "");
    if (count == 0) return {};
    T* to = static_cast<T*>(storage_->Allocate(sizeof(T) * count));
    std::memcpy(static_cast<void*>(to), items, sizeof(T) * count);
    return {to, count};
  }
  absl::string_view CopyText(absl::string_view text) {
    absl::Span<const char> copy = Copy(text.data(), text.size());
    return {copy.data(), copy.size()};
  }
  // `in_source`: 8 bytes may be read behind the name, and it lives as long as the tree.
  Identifier Intern(absl::string_view name, bool in_source);

 private:
  void GrowTable();

  std::shared_ptr<Ast> ast_;
  Ast::Storage* storage_;
};

}  // namespace ast
}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_SYNTAX_TREE_BUILDER_H_
