// The abstract syntax tree of Python 3.11: the nodes and fields of CPython's Parser/Python.asdl,
// under the same names. (Our base structs are StmtNode, ExprNode, PatternNode because ASDL's `Expr`
// is the expression statement; the lower-case sums of the ASDL - arguments, arg, keyword, alias,
// withitem, match_case, comprehension - are capitalised.)
//
// All nodes live in the arena of one Ast, are trivially destructible and never change after the
// parse. So an Ast can be shared between threads as shared_ptr<const Ast>, node pointers are good
// for its whole life, and the destructor of a tree frees a few blocks instead of recursing. The
// height of any tree is bounded by Limits::syntax_depth: a recursive walk is safe if that much
// stack is.
//
//   switch (e->node_kind) {
//     case ExprKind::BinOp: {
//       const BinOp* binary = e->As<BinOp>();
//       ... binary->left, binary->op, binary->right
//
// Optional fields (`?` in the ASDL) are null pointers when absent. Not kept: type comments,
// type_ignores.
#ifndef COBRA_FRONTEND_PYTHON_SYNTAX_AST_H_
#define COBRA_FRONTEND_PYTHON_SYNTAX_AST_H_

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace cobra::python {
namespace ast {

// As CPython counts: lines from 1, columns from 0 in bytes of the UTF-8 text; the end is exclusive.
struct Position {
  int32_t line = 0;
  int32_t col = 0;
  int32_t end_line = 0;
  int32_t end_col = 0;
};

// An interned name. Equal names in one Ast are one Symbol, so compare pointers; `id` counts from 0
// within the Ast, so that a vector indexed by it replaces a hash table (Ast::symbols()).
struct Symbol {
  absl::string_view text;
  uint32_t id = 0;
  uint32_t hash = 0;
};
using Identifier = const Symbol*;

// Children of a node: a span in the arena.
template <typename T>
using Seq = absl::Span<const T* const>;
using IdentifierSeq = absl::Span<const Identifier>;

enum class StmtKind : uint8_t {
#define COBRA_AST_STMT(name) name,
#include "frontend/python/syntax/ast_kinds.def"
};
enum class ExprKind : uint8_t {
#define COBRA_AST_EXPR(name) name,
#include "frontend/python/syntax/ast_kinds.def"
};
enum class PatternKind : uint8_t {
#define COBRA_AST_PATTERN(name) name,
#include "frontend/python/syntax/ast_kinds.def"
};
enum class Operator : uint8_t {
#define COBRA_AST_OPERATOR(name, spelling) name,
#include "frontend/python/syntax/ast_kinds.def"
};
enum class UnaryOperator : uint8_t {
#define COBRA_AST_UNARY_OPERATOR(name, spelling) name,
#include "frontend/python/syntax/ast_kinds.def"
};
enum class CmpOperator : uint8_t {
#define COBRA_AST_CMP_OPERATOR(name, spelling) name,
#include "frontend/python/syntax/ast_kinds.def"
};
enum class BoolOperator : uint8_t { And, Or };
enum class ExprContext : uint8_t { Load, Store, Del };

// The names in the ASDL ("FunctionDef", "Add", "NotIn") and the spelling in the source ("+", "not
// in").
const char* NameOf(StmtKind kind);
const char* NameOf(ExprKind kind);
const char* NameOf(PatternKind kind);
const char* NameOf(Operator op);
const char* NameOf(UnaryOperator op);
const char* NameOf(CmpOperator op);
const char* NameOf(BoolOperator op);
const char* NameOf(ExprContext ctx);
const char* Spelling(Operator op);
const char* Spelling(UnaryOperator op);
const char* Spelling(CmpOperator op);

// The common head of a node. `node_id` counts all statements, expressions and patterns of the Ast
// from 0 (Ast::node_count()), for side tables such as inline caches.
template <typename Kind>
struct NodeHead {
  Kind node_kind;
  uint16_t height = 1;  // of the expression below and including this one; statements and patterns do not use it
  uint32_t node_id = 0;
  Position pos;

  template <typename T>
  bool Is() const {
    return node_kind == T::kKind;
  }
  // REQUIRES: Is<T>().
  template <typename T>
  const T* As() const {
    assert(Is<T>());
    return static_cast<const T*>(this);
  }
  // Null if it is of another kind.
  template <typename T>
  const T* AsOrNull() const {
    return Is<T>() ? static_cast<const T*>(this) : nullptr;
  }
};
struct StmtNode : NodeHead<StmtKind> {};
struct ExprNode : NodeHead<ExprKind> {};
struct PatternNode : NodeHead<PatternKind> {};

template <StmtKind kind>
struct StmtBase : StmtNode {
  static constexpr StmtKind kKind = kind;
};
template <ExprKind kind>
struct ExprBase : ExprNode {
  static constexpr ExprKind kKind = kind;
};
template <PatternKind kind>
struct PatternBase : PatternNode {
  static constexpr PatternKind kKind = kind;
};

// ---- parts of other nodes ----

struct Comprehension {
  const ExprNode* target = nullptr;
  const ExprNode* iter = nullptr;
  Seq<ExprNode> ifs;
  bool is_async = false;
};

struct Arg {
  Position pos;
  Identifier arg = nullptr;
  const ExprNode* annotation = nullptr;  // optional
};

struct Arguments {
  Seq<Arg> posonlyargs;
  Seq<Arg> args;
  const Arg* vararg = nullptr;  // optional
  Seq<Arg> kwonlyargs;
  Seq<ExprNode> kw_defaults;   // one per kwonlyargs; null: no default
  const Arg* kwarg = nullptr;  // optional
  Seq<ExprNode> defaults;      // of the last ones of posonlyargs + args
};

struct Keyword {
  Position pos;
  Identifier arg = nullptr;  // null for **value
  const ExprNode* value = nullptr;
};

struct Alias {
  Position pos;
  Identifier name = nullptr;    // dotted: "a.b.c"; or "*"
  Identifier asname = nullptr;  // optional
};

struct WithItem {
  const ExprNode* context_expr = nullptr;
  const ExprNode* optional_vars = nullptr;  // optional
};

struct MatchCase {
  const PatternNode* pattern = nullptr;
  const ExprNode* guard = nullptr;  // optional
  Seq<StmtNode> body;
};

struct ExceptHandler {
  Position pos;
  const ExprNode* type = nullptr;  // optional
  Identifier name = nullptr;       // optional
  Seq<StmtNode> body;
};

// ---- statements ----

struct FunctionDef : StmtBase<StmtKind::FunctionDef> {
  Identifier name = nullptr;
  const Arguments* args = nullptr;
  Seq<StmtNode> body;
  Seq<ExprNode> decorator_list;
  const ExprNode* returns = nullptr;  // optional
};
struct AsyncFunctionDef : StmtBase<StmtKind::AsyncFunctionDef> {
  Identifier name = nullptr;
  const Arguments* args = nullptr;
  Seq<StmtNode> body;
  Seq<ExprNode> decorator_list;
  const ExprNode* returns = nullptr;  // optional
};
struct ClassDef : StmtBase<StmtKind::ClassDef> {
  Identifier name = nullptr;
  Seq<ExprNode> bases;
  Seq<Keyword> keywords;
  Seq<StmtNode> body;
  Seq<ExprNode> decorator_list;
};
struct Return : StmtBase<StmtKind::Return> {
  const ExprNode* value = nullptr;  // optional
};
struct Delete : StmtBase<StmtKind::Delete> {
  Seq<ExprNode> targets;
};
struct Assign : StmtBase<StmtKind::Assign> {
  Seq<ExprNode> targets;
  const ExprNode* value = nullptr;
};
struct AugAssign : StmtBase<StmtKind::AugAssign> {
  const ExprNode* target = nullptr;
  Operator op = Operator::Add;
  const ExprNode* value = nullptr;
};
struct AnnAssign : StmtBase<StmtKind::AnnAssign> {
  const ExprNode* target = nullptr;
  const ExprNode* annotation = nullptr;
  const ExprNode* value = nullptr;  // optional
  bool simple = false;              // a bare name without parentheses
};
struct For : StmtBase<StmtKind::For> {
  const ExprNode* target = nullptr;
  const ExprNode* iter = nullptr;
  Seq<StmtNode> body;
  Seq<StmtNode> orelse;
};
struct AsyncFor : StmtBase<StmtKind::AsyncFor> {
  const ExprNode* target = nullptr;
  const ExprNode* iter = nullptr;
  Seq<StmtNode> body;
  Seq<StmtNode> orelse;
};
struct While : StmtBase<StmtKind::While> {
  const ExprNode* test = nullptr;
  Seq<StmtNode> body;
  Seq<StmtNode> orelse;
};
struct If : StmtBase<StmtKind::If> {
  const ExprNode* test = nullptr;
  Seq<StmtNode> body;
  Seq<StmtNode> orelse;  // `elif` is one If in here
};
struct With : StmtBase<StmtKind::With> {
  Seq<WithItem> items;
  Seq<StmtNode> body;
};
struct AsyncWith : StmtBase<StmtKind::AsyncWith> {
  Seq<WithItem> items;
  Seq<StmtNode> body;
};
struct Match : StmtBase<StmtKind::Match> {
  const ExprNode* subject = nullptr;
  Seq<MatchCase> cases;
};
struct Raise : StmtBase<StmtKind::Raise> {
  const ExprNode* exc = nullptr;    // optional
  const ExprNode* cause = nullptr;  // optional
};
struct Try : StmtBase<StmtKind::Try> {
  Seq<StmtNode> body;
  Seq<ExceptHandler> handlers;
  Seq<StmtNode> orelse;
  Seq<StmtNode> finalbody;
};
struct TryStar : StmtBase<StmtKind::TryStar> {
  Seq<StmtNode> body;
  Seq<ExceptHandler> handlers;
  Seq<StmtNode> orelse;
  Seq<StmtNode> finalbody;
};
struct Assert : StmtBase<StmtKind::Assert> {
  const ExprNode* test = nullptr;
  const ExprNode* msg = nullptr;  // optional
};
struct Import : StmtBase<StmtKind::Import> {
  Seq<Alias> names;
};
struct ImportFrom : StmtBase<StmtKind::ImportFrom> {
  Identifier module = nullptr;  // dotted; null for `from . import x`
  Seq<Alias> names;
  int32_t level = 0;  // number of leading dots
};
struct Global : StmtBase<StmtKind::Global> {
  IdentifierSeq names;
};
struct Nonlocal : StmtBase<StmtKind::Nonlocal> {
  IdentifierSeq names;
};
struct Expr : StmtBase<StmtKind::Expr> {
  const ExprNode* value = nullptr;
};
struct Pass : StmtBase<StmtKind::Pass> {};
struct Break : StmtBase<StmtKind::Break> {};
struct Continue : StmtBase<StmtKind::Continue> {};

// ---- expressions ----

struct BoolOp : ExprBase<ExprKind::BoolOp> {
  BoolOperator op = BoolOperator::And;
  Seq<ExprNode> values;
};
struct NamedExpr : ExprBase<ExprKind::NamedExpr> {
  const ExprNode* target = nullptr;
  const ExprNode* value = nullptr;
};
struct BinOp : ExprBase<ExprKind::BinOp> {
  const ExprNode* left = nullptr;
  Operator op = Operator::Add;
  const ExprNode* right = nullptr;
};
struct UnaryOp : ExprBase<ExprKind::UnaryOp> {
  UnaryOperator op = UnaryOperator::Not;
  const ExprNode* operand = nullptr;
};
struct Lambda : ExprBase<ExprKind::Lambda> {
  const Arguments* args = nullptr;
  const ExprNode* body = nullptr;
};
struct IfExp : ExprBase<ExprKind::IfExp> {
  const ExprNode* test = nullptr;
  const ExprNode* body = nullptr;
  const ExprNode* orelse = nullptr;
};
struct Dict : ExprBase<ExprKind::Dict> {
  Seq<ExprNode> keys;  // one per value; null for **value
  Seq<ExprNode> values;
};
struct Set : ExprBase<ExprKind::Set> {
  Seq<ExprNode> elts;
};
struct ListComp : ExprBase<ExprKind::ListComp> {
  const ExprNode* elt = nullptr;
  Seq<Comprehension> generators;
};
struct SetComp : ExprBase<ExprKind::SetComp> {
  const ExprNode* elt = nullptr;
  Seq<Comprehension> generators;
};
struct DictComp : ExprBase<ExprKind::DictComp> {
  const ExprNode* key = nullptr;
  const ExprNode* value = nullptr;
  Seq<Comprehension> generators;
};
struct GeneratorExp : ExprBase<ExprKind::GeneratorExp> {
  const ExprNode* elt = nullptr;
  Seq<Comprehension> generators;
};
struct Await : ExprBase<ExprKind::Await> {
  const ExprNode* value = nullptr;
};
struct Yield : ExprBase<ExprKind::Yield> {
  const ExprNode* value = nullptr;  // optional
};
struct YieldFrom : ExprBase<ExprKind::YieldFrom> {
  const ExprNode* value = nullptr;
};
struct Compare : ExprBase<ExprKind::Compare> {
  const ExprNode* left = nullptr;
  absl::Span<const CmpOperator> ops;
  Seq<ExprNode> comparators;  // one per op
};
struct Call : ExprBase<ExprKind::Call> {
  const ExprNode* func = nullptr;
  Seq<ExprNode> args;
  Seq<Keyword> keywords;
};
struct FormattedValue : ExprBase<ExprKind::FormattedValue> {
  const ExprNode* value = nullptr;
  int32_t conversion = -1;                // -1 none, or 's', 'r', 'a'
  const ExprNode* format_spec = nullptr;  // optional; a JoinedStr
};
struct JoinedStr : ExprBase<ExprKind::JoinedStr> {
  Seq<ExprNode> values;
};

enum class ConstantKind : uint8_t { kNone, kTrue, kFalse, kEllipsis, kInt, kBigInt, kFloat, kComplex, kStr, kBytes };

// `value` of the ASDL is constant_kind with one of the fields below.
struct Constant : ExprBase<ExprKind::Constant> {
  ConstantKind constant_kind = ConstantKind::kNone;
  bool is_u_string = false;  // `kind` of the ASDL is 'u' rather than None
  int64_t int_value = 0;     // kInt
  double float_value = 0;    // kFloat; kComplex: the imaginary part, the real one is 0
  // kStr: decoded, UTF-8 (a lone surrogate such as '\ud800' takes the three bytes that UTF-8 would
  // give it);
  // kBytes: the bytes; kBigInt: decimal digits of an int that needs more than 63 bits.
  absl::string_view text;
};

struct Attribute : ExprBase<ExprKind::Attribute> {
  const ExprNode* value = nullptr;
  Identifier attr = nullptr;
  ExprContext ctx = ExprContext::Load;
};
struct Subscript : ExprBase<ExprKind::Subscript> {
  const ExprNode* value = nullptr;
  const ExprNode* slice = nullptr;
  ExprContext ctx = ExprContext::Load;
};
struct Starred : ExprBase<ExprKind::Starred> {
  const ExprNode* value = nullptr;
  ExprContext ctx = ExprContext::Load;
};
struct Name : ExprBase<ExprKind::Name> {
  Identifier id = nullptr;
  ExprContext ctx = ExprContext::Load;
};
struct List : ExprBase<ExprKind::List> {
  Seq<ExprNode> elts;
  ExprContext ctx = ExprContext::Load;
};
struct Tuple : ExprBase<ExprKind::Tuple> {
  Seq<ExprNode> elts;
  ExprContext ctx = ExprContext::Load;
};
struct Slice : ExprBase<ExprKind::Slice> {
  const ExprNode* lower = nullptr;  // optional
  const ExprNode* upper = nullptr;  // optional
  const ExprNode* step = nullptr;   // optional
};

// ---- patterns ----

struct MatchValue : PatternBase<PatternKind::MatchValue> {
  const ExprNode* value = nullptr;
};
struct MatchSingleton : PatternBase<PatternKind::MatchSingleton> {
  ConstantKind value = ConstantKind::kNone;  // kNone, kTrue or kFalse
};
struct MatchSequence : PatternBase<PatternKind::MatchSequence> {
  Seq<PatternNode> patterns;
};
struct MatchMapping : PatternBase<PatternKind::MatchMapping> {
  Seq<ExprNode> keys;
  Seq<PatternNode> patterns;
  Identifier rest = nullptr;  // optional
};
struct MatchClass : PatternBase<PatternKind::MatchClass> {
  const ExprNode* cls = nullptr;
  Seq<PatternNode> patterns;
  IdentifierSeq kwd_attrs;
  Seq<PatternNode> kwd_patterns;
};
struct MatchStar : PatternBase<PatternKind::MatchStar> {
  Identifier name = nullptr;  // null: `*_`
};
struct MatchAs : PatternBase<PatternKind::MatchAs> {
  const PatternNode* pattern = nullptr;  // optional
  Identifier name = nullptr;             // null: `_`
};
struct MatchOr : PatternBase<PatternKind::MatchOr> {
  Seq<PatternNode> patterns;
};

// ---- roots ----

struct Module {
  Seq<StmtNode> body;
};
struct Expression {
  const ExprNode* body = nullptr;
};

// Owns a tree, its names and its source text. Created by ParseModule and ParseExpression
// (parser.h); immutable afterwards.
class Ast {
 public:
  Ast();
  ~Ast();
  Ast(const Ast&) = delete;
  Ast& operator=(const Ast&) = delete;

  // The result of ParseModule: null only after ParseExpression.
  const Module* module() const { return module_; }
  // The result of ParseExpression, likewise.
  const Expression* expression() const { return expression_; }

  absl::string_view filename() const { return filename_; }
  // UTF-8 without byte order mark, every line ends in '\n'.
  absl::string_view source() const { return source_; }
  int line_count() const { return static_cast<int>(line_starts_.size()); }
  // Line `line`, counted from 1, without its newline; empty if there is no such line.
  absl::string_view Line(int line) const;
  // The text of a node, e.g. for messages: source from the begin to the end of `pos`.
  absl::string_view Text(const Position& pos) const;

  // All names of the tree; symbols()[i]->id == i.
  absl::Span<const Identifier> symbols() const { return symbols_; }
  // Null if the tree does not use that name.
  Identifier FindSymbol(absl::string_view text) const;
  // Number of statements, expressions and patterns.
  uint32_t node_count() const { return node_count_; }
  // Bytes held: nodes, names, text, tables.
  int64_t memory_bytes() const;

 private:
  friend class TreeBuilder;
  struct Storage;  // arena and intern table
  std::unique_ptr<Storage> storage_;
  std::string filename_;
  std::string source_;
  std::vector<int32_t> line_starts_;
  std::vector<Identifier> symbols_;
  const Module* module_ = nullptr;
  const Expression* expression_ = nullptr;
  uint32_t node_count_ = 0;
};

}  // namespace ast
}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_SYNTAX_AST_H_
