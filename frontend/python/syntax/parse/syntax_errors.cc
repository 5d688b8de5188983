#include "frontend/python/syntax/parse/syntax_errors.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/text/limit_message.h"
#include "frontend/python/syntax/parse/error_grammar.h"
#include "frontend/python/syntax/parse/parser_impl.h"

namespace cobra::python {
namespace ast {
namespace {

using Op = GrammarItem::Op;

// CPython gives up (MemoryError) at 6,000 nested rules, about 200 brackets. We use fewer rules per
// bracket and give up at about the same number of brackets. A rule takes about three stack frames,
// together less than 0.6 KB.
constexpr int kMaxRuleDepth = 4500;
// Limits of time (a second or two) and memory (100 MB). Only statements of more than about 100,000
// tokens come near them. Then the error is the plain "invalid syntax" at the place where our own
// parser stopped.
constexpr int64_t kMaxSteps = 40 * 1000 * 1000;
constexpr size_t kMaxMemo = 4 * 1000 * 1000;

const char* ExpressionName(const ExprNode* e) {
  switch (e->node_kind) {
    case ExprKind::Attribute: return "attribute";
    case ExprKind::Subscript: return "subscript";
    case ExprKind::Starred: return "starred";
    case ExprKind::Name: return "name";
    case ExprKind::List: return "list";
    case ExprKind::Tuple: return "tuple";
    case ExprKind::Lambda: return "lambda";
    case ExprKind::Call: return "function call";
    case ExprKind::BoolOp:
    case ExprKind::BinOp:
    case ExprKind::UnaryOp: return "expression";
    case ExprKind::GeneratorExp: return "generator expression";
    case ExprKind::Yield:
    case ExprKind::YieldFrom: return "yield expression";
    case ExprKind::Await: return "await expression";
    case ExprKind::ListComp: return "list comprehension";
    case ExprKind::SetComp: return "set comprehension";
    case ExprKind::DictComp: return "dict comprehension";
    case ExprKind::Dict: return "dict literal";
    case ExprKind::Set: return "set display";
    case ExprKind::JoinedStr:
    case ExprKind::FormattedValue: return "f-string expression";
    case ExprKind::Compare: return "comparison";
    case ExprKind::IfExp: return "conditional expression";
    case ExprKind::NamedExpr: return "named expression";
    case ExprKind::Slice: return "slice";
    case ExprKind::Constant: break;
  }
  switch (e->As<Constant>()->constant_kind) {
    case ConstantKind::kNone: return "None";
    case ConstantKind::kTrue: return "True";
    case ConstantKind::kFalse: return "False";
    case ConstantKind::kEllipsis: return "ellipsis";
    default: return "literal";
  }
}

enum class Targets { kStar, kDel, kFor };

// The part of `e` that cannot be assigned to or deleted; null if all of it can.
const ExprNode* InvalidTarget(const ExprNode* e, Targets targets) {
  switch (e->node_kind) {
    case ExprKind::List:
    case ExprKind::Tuple:
      for (const ExprNode* element : e->Is<List>() ? e->As<List>()->elts : e->As<Tuple>()->elts) {
        const ExprNode* invalid = InvalidTarget(element, targets);
        if (invalid != nullptr) return invalid;
      }
      return nullptr;
    case ExprKind::Starred: return targets == Targets::kDel ? e : InvalidTarget(e->As<Starred>()->value, targets);
    case ExprKind::Compare: {  // `a in b` of `for a in b`
      if (targets != Targets::kFor) return e;
      const Compare* compare = e->As<Compare>();
      return compare->ops[0] == CmpOperator::In ? InvalidTarget(compare->left, targets) : nullptr;
    }
    case ExprKind::Name:
    case ExprKind::Subscript:
    case ExprKind::Attribute: return nullptr;
    default: return e;
  }
}

class ErrorFinder {
 public:
  ErrorFinder(const ErrorSearch& search, const Limits& limits, TreeBuilder* builder)
      : search_(search),
        limits_(limits),
        builder_(builder),
        grammar_(GetErrorGrammar()),
        strings_rule_(grammar_.index.at("strings")),
        statement_rule_(grammar_.index.at("statement")),
        lexer_(search.text, search.version, search.first_line, search.column_shift) {}

  SyntaxProblem Find();

 private:
  struct Range {
    int begin = -1;
    int end = -1;
  };
  struct Capture {
    const GrammarItem* item;
    Range range;
  };

  bool Fetch(int at);
  int MatchRule(int rule, int at);
  int MatchChoice(const GrammarItem& choice, int at);
  // Returns the position after the match; -1: no match. *cut: later alternatives are not tried.
  int MatchAlternative(const GrammarAlternative& alternative, int at, bool* cut);
  int MatchItem(const GrammarItem& item, int at);
  int MatchRepeated(const GrammarItem& item, const GrammarItem* separator, int at, bool at_least_one);
  int CheckStrings(int at, int end);
  int CheckProblem(const Parser& parser, int end);
  // False: the alternative does not match after all.
  bool Act(const GrammarAlternative& alternative, size_t first_capture, int end);
  bool ActOnArguments(const GrammarAlternative& alternative, Range range);

  absl::string_view TextOf(const Token& token) const {
    return search_.text.substr(token.begin, token.end - token.begin);
  }
  const ExprNode* Tree(Range range, absl::string_view rule);
  void Raise(SyntaxProblem::Kind kind, int line, int column, std::string message);
  void RaiseAtLastToken(SyntaxProblem::Kind kind, std::string message) {
    Raise(kind, tokens_.back().pos.line, tokens_.back().pos.col + 1, std::move(message));
  }
  void RaiseAtNode(const ExprNode* node, std::string message) {
    Raise(SyntaxProblem::Kind::kSyntax, node->pos.line, node->pos.col + 1, std::move(message));
  }
  void RaiseExpected(const GrammarItem& item, const Token& token);
  void RaiseTooDeep();
  void RaiseLexerProblem();
  void ScanRest();

  const ErrorSearch search_;
  const Limits limits_;
  TreeBuilder* const builder_;
  const ErrorGrammar& grammar_;
  const int strings_rule_;
  const int statement_rule_;
  Lexer lexer_;
  std::vector<Token> tokens_;
  std::vector<Capture> captures_;  // of the alternatives that are being matched, innermost last
  absl::flat_hash_map<uint64_t, int> memo_;
  bool mistakes_ = false;  // second pass
  bool raised_ = false;
  bool lexer_failed_ = false;
  bool gave_up_ = false;
  int depth_ = 0;
  int64_t steps_ = 0;
  SyntaxProblem problem_;
};

void ErrorFinder::Raise(SyntaxProblem::Kind kind, int line, int column, std::string message) {
  if (raised_) return;
  raised_ = true;
  if (search_.start_rule == "fstring") message = absl::StrCat("f-string: ", message);
  problem_ = {kind, std::move(message), line, column};
}

// Separate from MatchItem, whose stack frame would otherwise hold these strings.
ABSL_ATTRIBUTE_NOINLINE void ErrorFinder::RaiseExpected(const GrammarItem& item, const Token& token) {
  Raise(SyntaxProblem::Kind::kSyntax, token.pos.line, token.pos.col + 1, absl::StrCat("expected '", item.text, "'"));
}

ABSL_ATTRIBUTE_NOINLINE void ErrorFinder::RaiseTooDeep() {
  Raise(SyntaxProblem::Kind::kLimit, tokens_.back().pos.line, 0,
        LimitMessage("the nesting of the source", kMaxRuleDepth, "rules of the grammar"));
}

void ErrorFinder::RaiseLexerProblem() {
  raised_ = false;
  const SyntaxProblem& p = lexer_.problem();
  Raise(p.kind, p.line, p.column, p.message);
  if (lexer_.problem_was_raised()) problem_.message = p.message;  // without "f-string: "
}

bool ErrorFinder::Fetch(int at) {
  while (static_cast<int>(tokens_.size()) <= at) {
    if (raised_) return false;
    Token token;
    lexer_.Next(&token);
    tokens_.push_back(token);
    if (token.kind == TokenKind::kError) {
      lexer_failed_ = true;
      RaiseLexerProblem();
      return false;
    }
  }
  return !raised_;
}

int ErrorFinder::MatchRule(int rule_index, int at) {
  if (raised_) return -1;
  const GrammarRule& rule = grammar_.rules[rule_index];
  if (!Fetch(at) || (!rule.nullable && !rule.first[static_cast<size_t>(tokens_[at].kind)])) return -1;
  // CPython caches the results of some rules no matter whether mistakes were looked for. For the
  // other rules the two cases must be separate.
  const uint64_t key =
      (static_cast<uint64_t>(at) << 12) | (static_cast<uint64_t>(rule_index) << 1) | (!rule.memo && mistakes_ ? 1 : 0);
  const auto found = memo_.find(key);
  if (found != memo_.end()) return found->second;
  if (++depth_ > kMaxRuleDepth) {
    RaiseTooDeep();
    --depth_;
    return -1;
  }
  const bool outer_mistakes = mistakes_;
  if (rule.without_invalid) mistakes_ = false;
  int end = MatchChoice(rule.body, at);
  if (rule_index == strings_rule_ && end >= 0) end = CheckStrings(at, end);
  mistakes_ = outer_mistakes;
  --depth_;
  if (raised_) return -1;
  // The search does not backtrack across a statement of the file.
  if (rule_index == statement_rule_ && end >= 0 && depth_ == 2) memo_.clear();
  memo_[key] = end;
  return end;
}

int ErrorFinder::MatchChoice(const GrammarItem& choice, int at) {
  if (!Fetch(at)) return -1;
  const size_t kind = static_cast<size_t>(tokens_[at].kind);
  for (const GrammarAlternative& alternative : choice.alternatives) {
    if (!alternative.first[kind] || (alternative.mistake && !mistakes_)) continue;
    bool cut = false;
    const int end = MatchAlternative(alternative, at, &cut);
    if (end >= 0 || raised_) return raised_ ? -1 : end;
    if (cut) return -1;
  }
  return -1;
}

int ErrorFinder::MatchAlternative(const GrammarAlternative& alternative, int at, bool* cut) {
  const size_t outer_captures = captures_.size();
  int p = at;
  for (const auto& item : alternative.items) {
    if (item->op == Op::kCut) {
      *cut = true;
      continue;
    }
    const int end = MatchItem(*item, p);
    if (end < 0) {
      captures_.resize(outer_captures);
      return -1;
    }
    if (!item->variable.empty() && !alternative.action.empty()) captures_.push_back({item.get(), {p, end}});
    p = end;
  }
  if (!alternative.action.empty() && !Act(alternative, outer_captures, p)) {
    *cut = true;  // an action without a result ends the rule
    p = -1;
  }
  captures_.resize(outer_captures);
  return p;
}

int ErrorFinder::MatchItem(const GrammarItem& item, int at) {
  if (++steps_ > kMaxSteps || memo_.size() > kMaxMemo) raised_ = gave_up_ = true;
  if (raised_) return -1;
  switch (item.op) {
    case Op::kToken: return Fetch(at) && tokens_[at].kind == item.token ? at + 1 : -1;
    case Op::kForcedToken:
      if (!Fetch(at)) return -1;
      if (tokens_[at].kind == item.token) return at + 1;
      RaiseExpected(item, tokens_[at]);
      return -1;
    case Op::kSoftKeyword:
      return Fetch(at) && tokens_[at].kind == TokenKind::kName && TextOf(tokens_[at]) == item.text ? at + 1 : -1;
    case Op::kAnySoftKeyword: {
      if (!Fetch(at) || tokens_[at].kind != TokenKind::kName) return -1;
      const absl::string_view text = TextOf(tokens_[at]);
      // CPython compares only as many characters as the name has: here `c` is accepted for `case`.
      for (absl::string_view word : {"_", "case", "match"}) {
        if (absl::StartsWith(word, text)) return at + 1;
      }
      if (search_.version >= 12 && absl::StartsWith("type", text)) return at + 1;
      return -1;
    }
    case Op::kRule: return MatchRule(item.rule, at);
    case Op::kChoice: return MatchChoice(item, at);
    case Op::kOptional: {
      const int end = MatchItem(*item.children[0], at);
      return raised_ ? -1 : end >= 0 ? end : at;
    }
    case Op::kStar: return MatchRepeated(*item.children[0], nullptr, at, false);
    case Op::kPlus: return MatchRepeated(*item.children[0], nullptr, at, true);
    case Op::kList: return MatchRepeated(*item.children[0], item.children[1].get(), at, true);
    case Op::kAnd: return MatchItem(*item.children[0], at) >= 0 ? at : -1;
    case Op::kNot: {
      const int end = MatchItem(*item.children[0], at);
      return raised_ || end >= 0 ? -1 : at;
    }
    case Op::kCut: return at;
    case Op::kSince: return search_.version >= item.rule ? at : -1;
  }
  return -1;
}

int ErrorFinder::MatchRepeated(const GrammarItem& item, const GrammarItem* separator, int at, bool at_least_one) {
  int end = MatchItem(item, at);
  if (end < 0) return raised_ || at_least_one ? -1 : at;
  for (;;) {
    const int next = separator == nullptr ? end : MatchItem(*separator, end);
    const int more = next < 0 ? -1 : MatchItem(item, next);
    if (raised_) return -1;
    if (more < 0) return end;
    end = more;
  }
}

ABSL_ATTRIBUTE_NOINLINE int ErrorFinder::CheckStrings(int at, int end) {
  Lexer lexer(search_.text, search_.version, search_.first_line, search_.column_shift);
  Parser parser(&lexer, builder_, limits_, search_.depth);
  std::vector<Token> tokens(tokens_.begin() + at, tokens_.begin() + end);
  if (search_.version >= 12) {
    Parser joining(search_.text, search_.version, tokens, builder_, limits_);
    return joining.ParseStringsOfTokens() != nullptr ? end : CheckProblem(joining, end);
  }
  return parser.ParseStrings(tokens) != nullptr ? end : CheckProblem(parser, end);
}

int ErrorFinder::CheckProblem(const Parser& parser, int end) {
  if (!parser.has_problem()) return end;
  if (parser.problem_is_at_last_token()) {
    RaiseAtLastToken(parser.problem().kind, parser.problem().message);
  } else {
    raised_ = true;
    problem_ = parser.problem();
  }
  return -1;
}

const ExprNode* ErrorFinder::Tree(Range range, absl::string_view rule) {
  std::vector<Token> tokens(tokens_.begin() + range.begin, tokens_.begin() + range.end);
  Parser parser(search_.text, search_.version, std::move(tokens), builder_, limits_);
  return rule == "args" ? parser.ParseArgumentTokens() : parser.ParseAnyExpression();
}

bool ErrorFinder::ActOnArguments(const GrammarAlternative& alternative, Range range) {
  const ExprNode* tree = Tree(range, "args");
  if (tree == nullptr) return false;
  const Call* call = tree->As<Call>();
  if (alternative.action == "ARGS") {
    bool unpacking = false;
    for (const Keyword* keyword : call->keywords) unpacking |= keyword->arg == nullptr;
    RaiseAtLastToken(SyntaxProblem::Kind::kSyntax, unpacking ? "positional argument follows keyword argument unpacking"
                                                             : "positional argument follows keyword argument");
    return true;
  }
  if (call->args.size() <= 1) return false;
  RaiseAtNode(call->args.back(), alternative.message);
  return true;
}

ABSL_ATTRIBUTE_NOINLINE bool ErrorFinder::Act(const GrammarAlternative& alternative, size_t first_capture, int end) {
  const GrammarItem* item = nullptr;
  Range range;
  for (size_t i = first_capture; i < captures_.size() && item == nullptr; ++i) {
    if (captures_[i].item->variable != alternative.variable) continue;
    item = captures_[i].item;
    range = captures_[i].range;
  }
  const std::string& action = alternative.action;
  if (action == "RAISE") {
    RaiseAtLastToken(SyntaxProblem::Kind::kSyntax, alternative.message);
    return true;
  }
  if (action == "INDENT") {
    const int line = item == nullptr ? 0 : tokens_[range.begin].pos.line;
    RaiseAtLastToken(SyntaxProblem::Kind::kIndentation,
                     absl::StrReplaceAll(alternative.message, {{"%l", absl::StrCat(line)}}));
    return true;
  }
  const Token& token = tokens_[range.begin];
  if (action == "REAL" || action == "IMAG") {
    Parser parser(search_.text, search_.version, {token}, builder_, limits_);
    const Constant* number = parser.ParseNumber(token);
    if (number == nullptr || (number->constant_kind == ConstantKind::kComplex) == (action == "IMAG")) return true;
    Raise(SyntaxProblem::Kind::kSyntax, token.pos.line, token.pos.col + 1, alternative.message);
    return true;
  }
  if (action == "NONPAREN" || action == "ARGS") return ActOnArguments(alternative, range);
  const bool legacy = TextOf(token) == "print" || TextOf(token) == "exec";
  if (action == "LEGACY" && !legacy) return false;
  if (action == "COMMA") {
    // `a` is the whole first expression: only a single name counts as a legacy statement.
    if (range.end == range.begin + 1 && legacy) return false;
    if (tokens_[end - 1].level == 0) return false;
  }
  const bool is_token = item->op == Op::kToken || item->op == Op::kSoftKeyword || item->op == Op::kChoice;
  const bool needs_tree =
      !is_token && (token.kind == TokenKind::kLParen || absl::StrContains(alternative.message, "%n") ||
                    absl::EndsWith(action, "_TARGETS"));
  const std::string rule = item->op == Op::kRule ? grammar_.rules[item->rule].name : "";
  const ExprNode* tree = needs_tree && rule != "args" ? Tree(range, rule) : nullptr;
  if (absl::EndsWith(action, "_TARGETS")) {
    const Targets targets = action == "DEL_TARGETS"   ? Targets::kDel
                            : action == "FOR_TARGETS" ? Targets::kFor
                                                      : Targets::kStar;
    const ExprNode* invalid = tree == nullptr ? nullptr : InvalidTarget(tree, targets);
    if (invalid == nullptr) return false;
    RaiseAtNode(invalid, absl::StrCat(targets == Targets::kDel ? "cannot delete " : "cannot assign to ",
                                      ExpressionName(invalid)));
    return true;
  }
  std::string message = absl::StrReplaceAll(
      alternative.message, {{"%n", tree == nullptr ? "expression" : ExpressionName(tree)}, {"%t", TextOf(token)}});
  if (tree != nullptr) {
    RaiseAtNode(tree, std::move(message));
  } else {
    Raise(SyntaxProblem::Kind::kSyntax, token.pos.line, token.pos.col + 1, std::move(message));
  }
  return true;
}

// A later error of the lexer, or a bracket that is never closed, explains more than the error of
// the grammar.
void ErrorFinder::ScanRest() {
  if (lexer_failed_ || lexer_.reached_end()) return;
  if (!lexer_.ScanForErrors(tokens_.back().pos.line)) return;
  RaiseLexerProblem();
}

SyntaxProblem ErrorFinder::Find() {
  const int start = grammar_.index.at(std::string(search_.start_rule));
  const bool accepted = MatchRule(start, 0) >= 0;
  if (accepted) {
    return {SyntaxProblem::Kind::kInternal, "our parser does not read this, but the grammar does",
            tokens_.back().pos.line, 0};
  }
  const Token last = tokens_.empty() ? Token() : tokens_.back();
  if (!raised_) {
    memo_.clear();
    mistakes_ = true;
    depth_ = 0;
    MatchRule(start, 0);
  }
  if (gave_up_)
    return {SyntaxProblem::Kind::kSyntax, "invalid syntax", search_.stopped_at.line, search_.stopped_at.col + 1};
  if (raised_) {
    if (problem_.kind != SyntaxProblem::Kind::kLimit) ScanRest();
    return problem_;
  }
  if (last.kind == TokenKind::kIndent || last.kind == TokenKind::kDedent) {
    RaiseAtLastToken(SyntaxProblem::Kind::kIndentation,
                     last.kind == TokenKind::kIndent ? "unexpected indent" : "unexpected unindent");
    return problem_;
  }
  Raise(SyntaxProblem::Kind::kSyntax, last.pos.line, last.pos.col + 1, "invalid syntax");
  ScanRest();
  return problem_;
}

}  // namespace

SyntaxProblem FindSyntaxError(const ErrorSearch& search, const Limits& limits, TreeBuilder* builder) {
  return ErrorFinder(search, limits, builder).Find();
}

}  // namespace ast
}  // namespace cobra::python
