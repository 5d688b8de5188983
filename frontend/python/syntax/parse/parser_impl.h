// The recursive descent parser. One token of lookahead suffices almost everywhere (two for `name =`
// and `name :=`); only `with (` and the soft keyword `match` are parsed tentatively.
//
// It builds the tree of a correct program and produces no messages: a method that cannot continue
// returns null (or false), the parse ends, and syntax_errors.h determines CPython's message.
// Exceptions are the limits and the errors inside string and number literals: these set problem().
//
// Native recursion: every method that can be re-entered through brackets, operators or blocks takes
// a Depth. Chains (a.b.c, x + y + z, elif) are loops, and the height of what they build is bounded
// through NodeHead::height.
#ifndef COBRA_FRONTEND_PYTHON_SYNTAX_PARSE_PARSER_IMPL_H_
#define COBRA_FRONTEND_PYTHON_SYNTAX_PARSE_PARSER_IMPL_H_

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "frontend/python/syntax/ast.h"
#include "frontend/python/syntax/lexer.h"
#include "frontend/python/syntax/parse/parser.h"
#include "frontend/python/syntax/tree_builder.h"

namespace cobra::python {
namespace ast {

class Parser {
 public:
  // `depth`: how deep the caller is already (expressions in f-strings).
  Parser(Lexer* lexer, TreeBuilder* builder, const Limits& limits, int depth = 0);
  // For syntax_errors: over some tokens of `text` only.
  Parser(absl::string_view text, int version, std::vector<Token> tokens, TreeBuilder* builder, const Limits& limits);
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  // The start rules of the grammar: file, eval, fstring. Null if the source is not correct.
  const Module* ParseFile();
  const Expression* ParseEval();
  const ExprNode* ParseFString() { return ParseStarExpressions(); }

  // For syntax_errors: the literal that adjacent STRING tokens make, or the problem with it.
  const ExprNode* ParseStrings(absl::Span<const Token> tokens);
  // The same since Python 3.12, from the current token on (parse_fstrings.cc).
  const ExprNode* ParseStringsOfTokens();
  // For syntax_errors: a NUMBER token.
  const Constant* ParseNumber(const Token& token);
  // For syntax_errors: all tokens as one expression of any kind, or as the arguments of a call
  // (then a Call).
  const ExprNode* ParseAnyExpression();
  const ExprNode* ParseArgumentTokens();

  // Set if the failure needs no further search.
  bool has_problem() const { return has_problem_; }
  const SyntaxProblem& problem() const { return problem_; }
  // Why the start rule ("file", "eval", "fstring") failed.
  SyntaxProblem Explain(absl::string_view start_rule, int first_line, int column_shift);
  // The problem is reported where the token after the literal is (CPython's RAISE_SYNTAX_ERROR).
  bool problem_is_at_last_token() const { return problem_at_last_token_; }

 private:
  struct Start {
    int32_t line;
    int32_t col;
  };
  class Depth {
   public:
    explicit Depth(Parser* parser) : parser_(parser) { ++parser_->depth_; }
    ~Depth() { --parser_->depth_; }
    bool exceeded() const {
      if (parser_->depth_ <= parser_->limits_.syntax_depth) return false;
      parser_->FailDepth();
      return true;
    }

   private:
    Parser* parser_;
  };
  // Children on their way into the arena: a window of one shared stack.
  template <typename T>
  class Collector {
   public:
    explicit Collector(Parser* parser) : stack_(&parser->scratch_), builder_(parser->builder_), base_(stack_->size()) {}
    ~Collector() { stack_->resize(base_); }
    void Add(const T* item) { stack_->push_back(item); }
    size_t size() const { return stack_->size() - base_; }
    const T* back() const { return static_cast<const T*>(stack_->back()); }
    Seq<T> Take() {
      absl::Span<const void* const> copy = builder_->Copy(stack_->data() + base_, size());
      return {reinterpret_cast<const T* const*>(copy.data()), copy.size()};
    }

   private:
    std::vector<const void*>* stack_;
    TreeBuilder* builder_;
    size_t base_;
  };
  struct Mark {
    size_t index;
    int32_t end_line;
    int32_t end_col;
  };

  // ---- tokens (parser.cc) ----
  bool At(TokenKind kind) const { return token_->kind == kind; }
  const Token& Peek();
  void Lex();
  void Advance() {
    if (!token_->IsSpace()) {
      end_line_ = token_->pos.end_line;
      end_col_ = token_->pos.end_col;
    }
    if (++index_ == tokens_.size()) Lex();
    token_ = &tokens_[index_];
  }
  bool Accept(TokenKind kind) {
    if (token_->kind != kind) return false;
    Advance();
    return true;
  }
  Mark Save() const { return {index_, end_line_, end_col_}; }
  void Restore(const Mark& mark) {
    index_ = mark.index;
    end_line_ = mark.end_line;
    end_col_ = mark.end_col;
    token_ = &tokens_[index_];
  }
  void DropUsedTokens();
  Start Here() const { return {token_->pos.line, token_->pos.col}; }
  Position From(Start start) const { return {start.line, start.col, end_line_, end_col_}; }
  absl::string_view TextOf(const Token& token) const {
    return absl::string_view(text_.data() + token.begin, token.end - token.begin);
  }
  Identifier NameOfToken(const Token& token);
  // The name at the current token, behind which it moves; null if there is none.
  Identifier TakeName() {
    if (!At(TokenKind::kName)) return nullptr;
    Identifier name = NameOfToken(*token_);
    Advance();
    return name;
  }
  bool AtSoftKeyword(absl::string_view word) const { return At(TokenKind::kName) && TextOf(*token_) == word; }

  void FailDepth();
  void FailAmount(int64_t most, absl::string_view what);
  bool LimitReached() const { return has_problem_ && problem_.kind == SyntaxProblem::Kind::kLimit; }
  const ExprNode* FailLiteral(std::string message);
  const ExprNode* FailLiteralAt(const Token& token, std::string message);

  template <typename T>
  T* Make(Start start) {
    return builder_->Node<T>(From(start));
  }
  // Bounds the recursion of later walks over the finished tree.
  template <typename T>
  const T* WithHeight(T* node, int height_of_children) {
    if (height_of_children >= limits_.syntax_depth) {
      FailDepth();
      return nullptr;
    }
    node->height = static_cast<uint16_t>(height_of_children + 1);
    return node;
  }
  static int HeightOf(const ExprNode* a, const ExprNode* b = nullptr, const ExprNode* c = nullptr) {
    return std::max({a ? a->height : 0, b ? b->height : 0, c ? c->height : 0});
  }
  static int HeightOf(Seq<ExprNode> nodes);
  static int HeightOf(Seq<Comprehension> generators);
  static int HeightOf(const Arguments& args);

  // ---- statements (parse_statements.cc) ----
  bool ParseStatement(Collector<StmtNode>* out);
  bool ParseSimpleStatements(Collector<StmtNode>* out);
  const StmtNode* ParseSimpleStatement();
  const StmtNode* ParseExpressionStatement();
  const StmtNode* ParseAssign(Start start, const ExprNode* first);
  const StmtNode* ParseAnnAssign(Start start, bool parenthesised, const ExprNode* target);
  const StmtNode* ParseDel();
  const StmtNode* ParseImport();
  const StmtNode* ParseImportFrom();
  Identifier ParseDottedName();
  const StmtNode* ParseNames(bool global);
  const StmtNode* ParseRaise();
  const StmtNode* ParseAssert();
  // `:` and what follows; false on failure.
  bool ParseBlock(Seq<StmtNode>* body);
  bool ParseElse(Seq<StmtNode>* orelse);
  const StmtNode* ParseDecorated();
  const StmtNode* ParseAsync();
  const StmtNode* ParseIf();
  const StmtNode* ParseWhile();
  const StmtNode* ParseTry();
  const ExceptHandler* ParseHandler(bool star);
  template <typename Node>
  const StmtNode* ParseFor(Start start);
  template <typename Node>
  const StmtNode* ParseWith(Start start);
  bool ParseWithItems(bool parenthesised, Seq<WithItem>* items);
  template <typename Node>
  const StmtNode* ParseFunction(Start start, Seq<ExprNode> decorators);
  const StmtNode* ParseClass(Seq<ExprNode> decorators);

  // ---- parameters (parse_arguments.cc) ----
  const Arguments* ParseParameters(bool lambda);
  bool ParseParameterList(bool lambda, Arguments* out);
  const Arg* ParseParameter(bool lambda, bool star);

  // ---- expressions (parse_expressions.cc) ----
  static bool StartsExpression(TokenKind kind);
  const ExprNode* ParseStarExpressions();
  const ExprNode* ParseStarExpression();
  const ExprNode* ParseStarNamedExpression();
  const ExprNode* ParseNamedExpression();
  const ExprNode* ParseExpressionNode();
  const ExprNode* ParseYield();
  const ExprNode* ParseYieldOrStarExpressions();
  const ExprNode* ParseLambda();
  const ExprNode* ParseOperators(int min_precedence);
  const ExprNode* ParseBoolOp(Start start, const ExprNode* first, TokenKind word);
  const ExprNode* ParseComparison(Start start, const ExprNode* left);
  bool TakeCmpOperator(CmpOperator* op);
  const ExprNode* ParseUnary(int min_precedence);
  const ExprNode* ParsePower();
  const ExprNode* ParsePrimary();
  const ExprNode* ParseAtom();
  const ExprNode* ParseParenthesised();
  const ExprNode* ParseList();
  const ExprNode* ParseBraces();
  const ExprNode* ParseDict(Start start, const ExprNode* first_key);
  const ExprNode* ParseStringTokens();
  const ExprNode* ParseSlices();
  const ExprNode* ParseSlice();
  const ExprNode* MakeKeywordConstant(ConstantKind kind);
  bool ParseCallArguments(bool allow_bare_generator, Seq<ExprNode>* args, Seq<Keyword>* keywords, int* height);
  bool ParseGenerators(Seq<Comprehension>* generators);
  // Rest of a list of star_named_expressions up to `close`, which stays.
  bool ParseElements(Collector<ExprNode>* elements, TokenKind close);
  const ExprNode* ParseTargets();
  const ExprNode* ParseStarTarget();
  static bool SetContext(const ExprNode* node, ExprContext ctx, bool starred_allowed);

  // ---- patterns (parse_patterns.cc) ----
  const StmtNode* TryParseMatch(bool* failed_inside);
  const ExprNode* ParseSubject();
  const MatchCase* ParseCase();
  const PatternNode* ParsePatterns();
  const PatternNode* ParseMaybeStarPattern();
  const PatternNode* ParsePattern();
  const PatternNode* ParseOrPattern();
  const PatternNode* ParseClosedPattern();
  const PatternNode* ParseNamePattern();
  const PatternNode* ParseClassPattern(Start start, const ExprNode* cls);
  const PatternNode* ParseGroupOrSequencePattern();
  const PatternNode* ParseMappingPattern();
  bool ParseSequenceItems(Collector<PatternNode>* items, TokenKind close);
  const ExprNode* ParseLiteralKey();
  const ExprNode* ParseNumberPattern();
  const ExprNode* ParseAttr();
  Identifier ParseCaptureTarget();

  // ---- type parameters, type statements (parse_type_params.cc) ----
  bool ParseTypeParams(Seq<TypeParam>* params);
  const TypeParam* ParseTypeParam();
  const Lambda* ParseLazily(bool star);
  bool AtTypeAlias();
  const StmtNode* ParseTypeAlias();

  // ---- strings since 3.12 (parse_fstrings.cc) ----
  bool AtString() const { return At(TokenKind::kString) || At(TokenKind::kFStringStart); }
  bool ParseFString(Collector<ExprNode>* parts);
  bool ParseFStringParts(bool raw, bool specification, Collector<ExprNode>* parts);
  bool ParseFStringField(bool nested, Collector<ExprNode>* parts);
  const ExprNode* ParseSpecification();
  const ExprNode* JoinStrings(const Position& pos, Seq<ExprNode> parts, bool formatted);
  const Constant* FoldTexts(Seq<ExprNode> parts);

  // ---- literals (parse_literals.cc) ----
  struct StringPart;
  class StringJoiner;
  bool SplitString(const Token& token, StringPart* part);
  bool DecodeEscapes(absl::string_view body, std::string* out);
  bool DecodeOneEscape(const char** p, const char* end, std::string* out, const char* begin);
  bool DecodeHexEscape(const char** p, const char* end, std::string* out, const char* begin);
  bool DecodeNamedEscape(const char** p, const char* end, std::string* out, const char* begin);
  bool FailEscape(absl::string_view what, const char* begin, const char* start, const char* to);
  bool DecodeBytesEscapes(absl::string_view body, std::string* out);
  bool ParseFStringBody(const StringPart& part, const char** p, const char* end, int level, StringJoiner* joiner);
  bool ReadFStringLiteral(const StringPart& part, const char** p, const char* end, int level, std::string* out,
                          bool* more);
  const ExprNode* ParseReplacementField(const StringPart& part, const char** p, const char* end, int level,
                                        StringJoiner* joiner);
  bool FindFieldEnd(const char** p, const char* end);
  const ExprNode* ParseFieldExpression(const StringPart& part, const char* begin, const char* end);
  const Constant* MakeText(ConstantKind kind, absl::string_view text, bool is_u, const Position& pos);
  bool ReadInteger(absl::string_view digits, Constant* constant);

  Lexer* lexer_;
  TreeBuilder* builder_;
  Limits limits_;
  absl::string_view text_;
  const int version_;  // minor one of Python
  std::vector<Token> tokens_;
  size_t index_ = 0;
  const Token* token_ = nullptr;
  int32_t end_line_ = 0;  // of the last token with text
  int32_t end_col_ = 0;
  int depth_;
  std::vector<const void*> scratch_;
  bool has_problem_ = false;
  bool problem_at_last_token_ = false;
  SyntaxProblem problem_;
};

}  // namespace ast
}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_SYNTAX_PARSE_PARSER_IMPL_H_
