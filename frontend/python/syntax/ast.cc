#include "frontend/python/syntax/ast.h"

#include <algorithm>

#include "frontend/python/syntax/tree_builder.h"

namespace cobra::python {
namespace ast {
namespace {

constexpr size_t kFirstBlockBytes = size_t{16} << 10;
constexpr size_t kLargestBlockBytes = size_t{1} << 20;

// Reads 8 bytes at a time and masks the last ones, so up to 8 bytes after the end of `name` must be
// readable.
uint32_t HashName(absl::string_view name) {
  uint64_t h = name.size() * 0x9E3779B97F4A7C15u;
  const char* p = name.data();
  size_t left = name.size();
  while (left > 0) {
    uint64_t v;
    std::memcpy(&v, p, 8);
    const size_t taken = std::min<size_t>(left, 8);
    if (taken < 8) v &= (uint64_t{1} << (8 * taken)) - 1;
    h = (h ^ v) * 0xFF51AFD7ED558CCDu;
    h ^= h >> 32;
    p += taken;
    left -= taken;
  }
  return static_cast<uint32_t>(h);
}

}  // namespace

const char* NameOf(StmtKind kind) {
  static constexpr const char* kNames[] = {
#define COBRA_AST_STMT(name) #name,
#include "frontend/python/syntax/ast_kinds.def"
  };
  return kNames[static_cast<int>(kind)];
}
const char* NameOf(ExprKind kind) {
  static constexpr const char* kNames[] = {
#define COBRA_AST_EXPR(name) #name,
#include "frontend/python/syntax/ast_kinds.def"
  };
  return kNames[static_cast<int>(kind)];
}
const char* NameOf(PatternKind kind) {
  static constexpr const char* kNames[] = {
#define COBRA_AST_PATTERN(name) #name,
#include "frontend/python/syntax/ast_kinds.def"
  };
  return kNames[static_cast<int>(kind)];
}
const char* NameOf(Operator op) {
  static constexpr const char* kNames[] = {
#define COBRA_AST_OPERATOR(name, spelling) #name,
#include "frontend/python/syntax/ast_kinds.def"
  };
  return kNames[static_cast<int>(op)];
}
const char* NameOf(UnaryOperator op) {
  static constexpr const char* kNames[] = {
#define COBRA_AST_UNARY_OPERATOR(name, spelling) #name,
#include "frontend/python/syntax/ast_kinds.def"
  };
  return kNames[static_cast<int>(op)];
}
const char* NameOf(CmpOperator op) {
  static constexpr const char* kNames[] = {
#define COBRA_AST_CMP_OPERATOR(name, spelling) #name,
#include "frontend/python/syntax/ast_kinds.def"
  };
  return kNames[static_cast<int>(op)];
}
const char* NameOf(BoolOperator op) { return op == BoolOperator::And ? "And" : "Or"; }
const char* NameOf(ExprContext ctx) {
  return ctx == ExprContext::Load ? "Load" : ctx == ExprContext::Store ? "Store" : "Del";
}
const char* Spelling(Operator op) {
  static constexpr const char* kTexts[] = {
#define COBRA_AST_OPERATOR(name, spelling) spelling,
#include "frontend/python/syntax/ast_kinds.def"
  };
  return kTexts[static_cast<int>(op)];
}
const char* Spelling(UnaryOperator op) {
  static constexpr const char* kTexts[] = {
#define COBRA_AST_UNARY_OPERATOR(name, spelling) spelling,
#include "frontend/python/syntax/ast_kinds.def"
  };
  return kTexts[static_cast<int>(op)];
}
const char* Spelling(CmpOperator op) {
  static constexpr const char* kTexts[] = {
#define COBRA_AST_CMP_OPERATOR(name, spelling) spelling,
#include "frontend/python/syntax/ast_kinds.def"
  };
  return kTexts[static_cast<int>(op)];
}

Ast::Ast() : storage_(std::make_unique<Storage>()) {}
Ast::~Ast() = default;

absl::string_view Ast::Line(int line) const {
  if (line < 1 || line > line_count()) return {};
  const size_t begin = line_starts_[line - 1];
  size_t end = line == line_count() ? source_.size() : line_starts_[line];
  if (end > begin && source_[end - 1] == '\n') --end;
  return absl::string_view(source_).substr(begin, end - begin);
}

absl::string_view Ast::Text(const Position& pos) const {
  if (pos.line < 1 || pos.end_line > line_count() || pos.col < 0) return {};
  const size_t begin = static_cast<size_t>(line_starts_[pos.line - 1]) + pos.col;
  const size_t end = static_cast<size_t>(line_starts_[pos.end_line - 1]) + pos.end_col;
  if (begin > end || end > source_.size()) return {};
  return absl::string_view(source_).substr(begin, end - begin);
}

Identifier Ast::FindSymbol(absl::string_view text) const {
  if (storage_->table.empty()) return nullptr;
  std::string padded(text);
  padded.append(8, '\0');
  const size_t mask = storage_->table.size() - 1;
  for (size_t i = HashName({padded.data(), text.size()}) & mask;; i = (i + 1) & mask) {
    const Symbol* symbol = storage_->table[i];
    if (symbol == nullptr || symbol->text == text) return symbol;
  }
}

int64_t Ast::memory_bytes() const {
  return storage_->bytes + static_cast<int64_t>(source_.capacity() + line_starts_.capacity() * sizeof(int32_t) +
                                                (symbols_.capacity() + storage_->table.capacity()) * sizeof(void*));
}

void Ast::Storage::Grow(size_t size) {
  const size_t wanted = std::min(kLargestBlockBytes, kFirstBlockBytes << std::min<size_t>(blocks.size(), 10));
  const size_t block_bytes = std::max(wanted, size);
  blocks.emplace_back(new char[block_bytes]);
  next = blocks.back().get();
  limit = next + block_bytes;
  bytes += static_cast<int64_t>(block_bytes);
}

TreeBuilder::TreeBuilder(std::string source, std::string filename)
    : ast_(std::make_shared<Ast>()), storage_(ast_->storage_.get()) {
  const size_t size = source.size();
  source.append(16, '\0');  // the lexer and the hash read a few bytes past the end
  source.resize(size);
  ast_->source_ = std::move(source);
  ast_->filename_ = std::move(filename);
  const char* begin = ast_->source_.data();
  const char* const end = begin + size;
  for (const char* p = begin; p < end;) {
    ast_->line_starts_.push_back(static_cast<int32_t>(p - begin));
    const void* newline = std::memchr(p, '\n', end - p);
    if (newline == nullptr) break;
    p = static_cast<const char*>(newline) + 1;
  }
}

void TreeBuilder::GrowTable() {
  std::vector<const Symbol*> old = std::move(storage_->table);
  storage_->table.assign(std::max<size_t>(64, old.size() * 2), nullptr);
  const size_t mask = storage_->table.size() - 1;
  for (const Symbol* symbol : old) {
    if (symbol == nullptr) continue;
    size_t i = symbol->hash & mask;
    while (storage_->table[i] != nullptr) i = (i + 1) & mask;
    storage_->table[i] = symbol;
  }
}

Identifier TreeBuilder::Intern(absl::string_view name, bool in_source) {
  if (!in_source) {
    char* copy = static_cast<char*>(storage_->Allocate(name.size() + 8));
    std::memcpy(copy, name.data(), name.size());
    name = {copy, name.size()};
  }
  if (storage_->symbol_count * 2 >= storage_->table.size()) GrowTable();
  const uint32_t hash = HashName(name);
  const size_t mask = storage_->table.size() - 1;
  size_t i = hash & mask;
  for (; storage_->table[i] != nullptr; i = (i + 1) & mask) {
    const Symbol* symbol = storage_->table[i];
    if (symbol->hash == hash && symbol->text == name) return symbol;
  }
  Symbol* symbol = Plain<Symbol>();
  symbol->text = name;
  symbol->id = static_cast<uint32_t>(storage_->symbol_count++);
  symbol->hash = hash;
  storage_->table[i] = symbol;
  ast_->symbols_.push_back(symbol);
  return symbol;
}

}  // namespace ast
}  // namespace cobra::python
