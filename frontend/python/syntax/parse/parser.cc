#include "frontend/python/syntax/parse/parser.h"

#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "frontend/python/syntax/check/check.h"
#include "frontend/python/syntax/lexer.h"
#include "frontend/python/syntax/parse/parser_impl.h"
#include "frontend/python/syntax/parse/syntax_errors.h"
#include "frontend/python/syntax/python_version.h"
#include "frontend/python/syntax/source.h"
#include "frontend/python/syntax/unicode.h"

namespace cobra::python {
namespace ast {

using K = TokenKind;

Parser::Parser(Lexer* lexer, TreeBuilder* builder, const Limits& limits, int depth)
    : lexer_(lexer),
      builder_(builder),
      limits_(limits),
      text_(lexer->text()),
      version_(lexer->version()),
      depth_(depth) {
  tokens_.reserve(256);
  Lex();
  token_ = &tokens_[0];
}

Parser::Parser(absl::string_view text, int version, std::vector<Token> tokens, TreeBuilder* builder,
               const Limits& limits)
    : lexer_(nullptr),
      builder_(builder),
      limits_(limits),
      text_(text),
      version_(version),
      tokens_(std::move(tokens)),
      depth_(0) {
  if (tokens_.empty()) Lex();
  token_ = &tokens_[0];
}

void Parser::Lex() {
  tokens_.emplace_back();
  Token* token = &tokens_.back();
  if (builder_->node_count() > static_cast<uint64_t>(limits_.syntax_nodes)) FailAmount(limits_.syntax_nodes, "nodes");
  if (builder_->name_count() > static_cast<uint64_t>(limits_.syntax_names))
    FailAmount(limits_.syntax_names, "different names");
  // If a limit is exceeded, the parse ends at the next token. A given list of tokens ends after its
  // last token.
  if (has_problem_) {
    token->kind = K::kError;
  } else if (lexer_ != nullptr) {
    lexer_->Next(token);
  }
}

const Token& Parser::Peek() {
  if (index_ + 1 == tokens_.size()) {
    if (token_->kind == K::kEndMarker || token_->kind == K::kError) return *token_;
    Lex();
    token_ = &tokens_[index_];
  }
  return tokens_[index_ + 1];
}

// The parser does not backtrack across statements.
void Parser::DropUsedTokens() {
  if (index_ < 4096) return;
  tokens_.erase(tokens_.begin(), tokens_.begin() + static_cast<ptrdiff_t>(index_));
  index_ = 0;
  token_ = &tokens_[0];
}

Identifier Parser::NameOfToken(const Token& token) {
  if (token.non_ascii) return builder_->Intern(NormalizeIdentifier(TextOf(token)), false);
  return builder_->Intern(TextOf(token), true);
}

void Parser::FailDepth() {
  if (has_problem_) return;
  has_problem_ = true;
  problem_ = {SyntaxProblem::Kind::kLimit, LimitMessage("the nesting of the source", limits_.syntax_depth, "levels"),
              token_->pos.line, 0};
}

void Parser::FailAmount(int64_t most, absl::string_view what) {
  if (has_problem_) return;
  has_problem_ = true;
  const int line = tokens_.size() < 2 ? 0 : tokens_[tokens_.size() - 2].pos.line;
  problem_ = {SyntaxProblem::Kind::kLimit, LimitMessage("the source", most, what), line, 0};
}

// expressions NEWLINE* ENDMARKER
const Expression* Parser::ParseEval() {
  const Start start = Here();
  const ExprNode* body = ParseExpressionNode();
  if (body == nullptr) return nullptr;
  if (At(K::kComma)) {
    Collector<ExprNode> elements(this);
    elements.Add(body);
    while (Accept(K::kComma) && StartsExpression(token_->kind)) {
      if ((body = ParseExpressionNode()) == nullptr) return nullptr;
      elements.Add(body);
    }
    Tuple* tuple = Make<Tuple>(start);
    tuple->elts = elements.Take();
    if ((body = WithHeight(tuple, HeightOf(tuple->elts))) == nullptr) return nullptr;
  }
  while (Accept(K::kNewline)) {
  }
  if (!At(K::kEndMarker)) return nullptr;
  Expression* expression = builder_->Plain<Expression>();
  expression->body = body;
  return expression;
}

const ExprNode* Parser::ParseAnyExpression() {
  if (At(K::kYield)) return ParseYield();
  const Start start = Here();
  const ExprNode* first = ParseStarNamedExpression();
  if (first == nullptr || !Accept(K::kComma)) return first;
  Collector<ExprNode> elements(this);
  elements.Add(first);
  if (!ParseElements(&elements, K::kEndMarker)) return nullptr;
  Tuple* tuple = Make<Tuple>(start);
  tuple->elts = elements.Take();
  return tuple;
}

const ExprNode* Parser::ParseArgumentTokens() {
  const Start start = Here();
  Token close;
  close.kind = K::kRParen;
  tokens_.push_back(close);
  token_ = &tokens_[index_];
  Seq<ExprNode> args;
  Seq<Keyword> keywords;
  int height = 0;
  if (!ParseCallArguments(false, &args, &keywords, &height)) return nullptr;
  Call* call = Make<Call>(start);
  call->args = args;
  call->keywords = keywords;
  return call;
}

SyntaxProblem Parser::Explain(absl::string_view start_rule, int first_line, int column_shift) {
  if (has_problem_ && problem_.kind == SyntaxProblem::Kind::kLimit) return problem_;
  // The text before it has no error, so CPython reports this error first too.
  if (At(K::kError) && !has_problem_ && start_rule != "fstring") return lexer_->problem();
  ErrorSearch search;
  search.text = text_;
  search.version = lexer_->version();
  search.first_line = first_line;
  search.column_shift = column_shift;
  search.start_rule = start_rule;
  search.depth = depth_;
  search.stopped_at = tokens_.back().pos;
  // The search also handles a problem inside a literal: it knows the reported position and whether
  // a later error takes precedence.
  const SyntaxProblem found = FindSyntaxError(search, limits_, builder_);
  return has_problem_ && found.kind == SyntaxProblem::Kind::kInternal ? problem_ : found;
}

namespace {

absl::Status ProblemToStatus(const SyntaxProblem& problem, const Ast& ast) {
  if (problem.kind == SyntaxProblem::Kind::kInternal) {
    return absl::InternalError(
        absl::StrCat(absl::string_view(ast.filename()), ":", problem.line, ": ", problem.message));
  }
  Diagnostic diagnostic;
  diagnostic.kind =
      problem.kind == SyntaxProblem::Kind::kLimit ? Diagnostic::Kind::kLimit : Diagnostic::Kind::kSyntaxError;
  diagnostic.message = problem.message;
  diagnostic.position = {std::string(ast.filename()), problem.line, problem.column < 0 ? 0 : problem.column};
  // A line of a megabyte does not help the user.
  constexpr size_t kShownBytes = 200;
  diagnostic.source_line = std::string(ast.Line(problem.line).substr(0, kShownBytes));
  return DiagnosticToStatus(diagnostic);
}

// Null: that version rejects the text, and `explain` is false. Finding the message may take a
// hundred times as long.
absl::StatusOr<std::shared_ptr<const Ast>> ParseAs(int version, const std::string& text, absl::string_view filename,
                                                   const Limits& limits, bool module, bool explain) {
  TreeBuilder builder(text, std::string(filename));
  Limits bounded = limits;
  bounded.syntax_depth = std::min<int32_t>(limits.syntax_depth, 60000);  // NodeHead::height has 16 bits
  Lexer lexer(builder.source(), version);
  Parser parser(&lexer, &builder, bounded);
  if (module) {
    builder.set_module(parser.ParseFile());
  } else {
    builder.set_expression(parser.ParseEval());
  }
  const bool parsed = builder.ast().module() != nullptr || builder.ast().expression() != nullptr;
  SyntaxProblem problem;
  if (parsed && CheckTree(builder.ast(), version, &problem)) return builder.Take();
  const bool at_limit = parser.has_problem() && parser.problem().kind == SyntaxProblem::Kind::kLimit;
  if (!explain && !at_limit) return nullptr;
  if (!parsed) problem = parser.Explain(module ? "file" : "eval", 1, 0);
  return ProblemToStatus(problem, builder.ast());
}

absl::StatusOr<std::shared_ptr<const Ast>> Parse(absl::string_view source, absl::string_view filename,
                                                 const Limits& limits, bool module) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, DecodeSource(source, filename, limits.source_bytes));
  const int set = GetPythonVersion();
  const int version = set == 0 ? kOldestPython : set;
  int newer = version;
  for (; newer <= kNewestPython; ++newer) {
    auto ast = ParseAs(newer, text, filename, limits, module, /*explain=*/false);
    if (ast.ok() && *ast == nullptr) continue;
    if (newer == version || set == 0) return ast;
    break;
  }
  auto ast = ParseAs(version, text, filename, limits, module, /*explain=*/true);
  std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(ast.status());
  if (newer > kNewestPython || !diagnostic.has_value()) return ast;
  diagnostic->hint = absl::StrCat("this is syntax of Python 3.", newer, ", and the model is read as Python 3.", version,
                                  ": --python-version 3.", newer);
  return DiagnosticToStatus(*diagnostic);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Ast>> ParseModule(absl::string_view source, absl::string_view filename,
                                                       const Limits& limits) {
  return Parse(source, filename, limits, true);
}

absl::StatusOr<std::shared_ptr<const Ast>> ParseExpression(absl::string_view source, absl::string_view filename,
                                                           const Limits& limits) {
  while (!source.empty() && (source[0] == ' ' || source[0] == '\t')) source.remove_prefix(1);
  return Parse(source, filename, limits, false);
}

}  // namespace ast
}  // namespace cobra::python
