// The match statement and its patterns.
#include "frontend/python/syntax/parse/parser_impl.h"

namespace cobra::python {
namespace ast {

using K = TokenKind;

// Called at the name `match`. Parses a match statement if the tokens are `match SUBJECT: NEWLINE
// INDENT case`. Otherwise returns null and consumes nothing, because `match` is an ordinary name.
const StmtNode* Parser::TryParseMatch(bool* failed_inside) {
  const K next = Peek().kind;
  if (!StartsExpression(next) && next != K::kStar) return nullptr;
  const Start start = Here();
  const Mark mark = Save();
  Advance();
  const ExprNode* subject = ParseSubject();
  const bool is_match =
      subject != nullptr && Accept(K::kColon) && Accept(K::kNewline) && Accept(K::kIndent) && AtSoftKeyword("case");
  if (!is_match) {
    *failed_inside = has_problem_;
    if (!has_problem_) Restore(mark);
    return nullptr;
  }
  Depth depth(this);
  Collector<MatchCase> cases(this);
  bool failed = depth.exceeded();
  while (!failed && AtSoftKeyword("case")) {
    const MatchCase* c = ParseCase();
    if (c == nullptr) {
      failed = true;
    } else {
      cases.Add(c);
    }
  }
  if (failed || !Accept(K::kDedent)) {
    *failed_inside = true;  // no other statement begins like this
    return nullptr;
  }
  Match* node = Make<Match>(start);
  node->subject = subject;
  node->cases = cases.Take();
  return node;
}

const ExprNode* Parser::ParseSubject() {
  const Start start = Here();
  const bool starred = At(K::kStar);
  const ExprNode* first = starred ? ParseStarNamedExpression() : ParseNamedExpression();
  if (first == nullptr) return nullptr;
  if (!At(K::kComma)) return starred ? nullptr : first;
  Collector<ExprNode> elements(this);
  elements.Add(first);
  Advance();
  if (!ParseElements(&elements, K::kColon)) return nullptr;
  Tuple* tuple = Make<Tuple>(start);
  tuple->elts = elements.Take();
  return WithHeight(tuple, HeightOf(tuple->elts));
}

const MatchCase* Parser::ParseCase() {
  Advance();
  MatchCase* c = builder_->Plain<MatchCase>();
  if ((c->pattern = ParsePatterns()) == nullptr) return nullptr;
  if (Accept(K::kIf) && (c->guard = ParseNamedExpression()) == nullptr) return nullptr;
  return ParseBlock(&c->body) ? c : nullptr;
}

const PatternNode* Parser::ParsePatterns() {
  const Start start = Here();
  const bool starred = At(K::kStar);
  const PatternNode* first = ParseMaybeStarPattern();
  if (first == nullptr) return nullptr;
  if (!At(K::kComma)) return starred ? nullptr : first;
  Collector<PatternNode> items(this);
  items.Add(first);
  Advance();
  if (!ParseSequenceItems(&items, K::kColon)) return nullptr;
  MatchSequence* node = Make<MatchSequence>(start);
  node->patterns = items.Take();
  return node;
}

const PatternNode* Parser::ParseMaybeStarPattern() {
  if (!At(K::kStar)) return ParsePattern();
  const Start start = Here();
  Advance();
  Identifier name = nullptr;
  if (AtSoftKeyword("_")) {
    Advance();
  } else if ((name = ParseCaptureTarget()) == nullptr) {
    return nullptr;
  }
  MatchStar* node = Make<MatchStar>(start);
  node->name = name;
  return node;
}

// Parses patterns up to `close` (or the guard's `if`), which is not consumed.
bool Parser::ParseSequenceItems(Collector<PatternNode>* items, K close) {
  while (!At(close) && !At(K::kIf)) {
    const PatternNode* item = ParseMaybeStarPattern();
    if (item == nullptr) return false;
    items->Add(item);
    if (!Accept(K::kComma)) break;
  }
  return true;
}

const PatternNode* Parser::ParsePattern() {
  Depth depth(this);
  if (depth.exceeded()) return nullptr;
  const Start start = Here();
  const PatternNode* pattern = ParseOrPattern();
  if (pattern == nullptr || !Accept(K::kAs)) return pattern;
  Identifier name = ParseCaptureTarget();
  if (name == nullptr) return nullptr;
  MatchAs* node = Make<MatchAs>(start);
  node->pattern = pattern;
  node->name = name;
  return node;
}

const PatternNode* Parser::ParseOrPattern() {
  const Start start = Here();
  const PatternNode* first = ParseClosedPattern();
  if (first == nullptr || !At(K::kVBar)) return first;
  Collector<PatternNode> alternatives(this);
  alternatives.Add(first);
  while (Accept(K::kVBar)) {
    const PatternNode* next = ParseClosedPattern();
    if (next == nullptr) return nullptr;
    alternatives.Add(next);
  }
  MatchOr* node = Make<MatchOr>(start);
  node->patterns = alternatives.Take();
  return node;
}

const PatternNode* Parser::ParseClosedPattern() {
  const Start start = Here();
  const auto singleton = [&](ConstantKind kind) {
    Advance();
    MatchSingleton* node = Make<MatchSingleton>(start);
    node->value = kind;
    return node;
  };
  const auto value = [&](const ExprNode* expr) -> const PatternNode* {
    if (expr == nullptr) return nullptr;
    MatchValue* node = Make<MatchValue>(start);
    node->value = expr;
    return node;
  };
  switch (token_->kind) {
    case K::kNone: return singleton(ConstantKind::kNone);
    case K::kTrue: return singleton(ConstantKind::kTrue);
    case K::kFalse: return singleton(ConstantKind::kFalse);
    case K::kNumber:
    case K::kMinus: return value(ParseNumberPattern());
    case K::kString:
    case K::kFStringStart: return value(ParseStringTokens());
    case K::kName: return ParseNamePattern();
    case K::kLParen:
    case K::kLSquare: return ParseGroupOrSequencePattern();
    case K::kLBrace: return ParseMappingPattern();
    default: return nullptr;
  }
}

// capture, `_`, dotted value, or class
const PatternNode* Parser::ParseNamePattern() {
  const Start start = Here();
  const K next = Peek().kind;
  if (next != K::kDot && next != K::kLParen) {
    if (next == K::kEqual) return nullptr;
    Identifier name = AtSoftKeyword("_") ? nullptr : NameOfToken(*token_);
    Advance();
    MatchAs* node = Make<MatchAs>(start);
    node->name = name;
    return node;
  }
  const ExprNode* name = ParseAttr();
  if (name == nullptr) return nullptr;
  if (At(K::kLParen)) return ParseClassPattern(start, name);
  if (At(K::kEqual)) return nullptr;
  MatchValue* node = Make<MatchValue>(start);
  node->value = name;
  return node;
}

// NAME ('.' NAME)*
const ExprNode* Parser::ParseAttr() {
  const Start start = Here();
  Identifier first = TakeName();
  if (first == nullptr) return nullptr;
  Name* name = Make<Name>(start);
  name->id = first;
  const ExprNode* value = name;
  while (Accept(K::kDot)) {
    Identifier attr = TakeName();
    if (attr == nullptr) return nullptr;
    Attribute* node = Make<Attribute>(start);
    node->value = value;
    node->attr = attr;
    if ((value = WithHeight(node, value->height)) == nullptr) return nullptr;
  }
  return value;
}

const PatternNode* Parser::ParseClassPattern(Start start, const ExprNode* cls) {
  Advance();
  Collector<PatternNode> patterns(this);
  std::vector<Identifier> attrs;
  std::vector<const PatternNode*> values;
  while (!At(K::kRParen)) {
    if (At(K::kName) && Peek().kind == K::kEqual) {
      attrs.push_back(TakeName());
      Advance();
      const PatternNode* value = ParsePattern();
      if (value == nullptr) return nullptr;
      values.push_back(value);
    } else {
      const PatternNode* pattern = attrs.empty() ? ParsePattern() : nullptr;
      if (pattern == nullptr) return nullptr;
      patterns.Add(pattern);
    }
    if (!Accept(K::kComma)) break;
  }
  if (!Accept(K::kRParen)) return nullptr;
  MatchClass* node = Make<MatchClass>(start);
  node->cls = cls;
  node->patterns = patterns.Take();
  node->kwd_attrs = builder_->Copy(attrs.data(), attrs.size());
  node->kwd_patterns = builder_->Copy(values.data(), values.size());
  return node;
}

// '(' pattern ')' is the pattern itself; with a comma, a star or nothing inside it is a sequence,
// as '[...]' always is.
const PatternNode* Parser::ParseGroupOrSequencePattern() {
  const Start start = Here();
  const bool round = At(K::kLParen);
  const K close = round ? K::kRParen : K::kRSquare;
  Advance();
  Collector<PatternNode> items(this);
  bool comma = false;
  bool starred = false;
  while (!At(close)) {
    starred |= At(K::kStar);
    const PatternNode* item = ParseMaybeStarPattern();
    if (item == nullptr) return nullptr;
    items.Add(item);
    if (!Accept(K::kComma)) break;
    comma = true;
  }
  if (!Accept(close)) return nullptr;
  if (round && !comma && items.size() == 1) return starred ? nullptr : items.back();
  MatchSequence* node = Make<MatchSequence>(start);
  node->patterns = items.Take();
  return node;
}

const PatternNode* Parser::ParseMappingPattern() {
  const Start start = Here();
  Advance();
  std::vector<const ExprNode*> keys;
  std::vector<const PatternNode*> patterns;
  Identifier rest = nullptr;
  while (!At(K::kRBrace)) {
    if (Accept(K::kDoubleStar)) {
      if ((rest = ParseCaptureTarget()) == nullptr) return nullptr;
      Accept(K::kComma);
      break;
    }
    const ExprNode* key = ParseLiteralKey();
    if (key == nullptr || !Accept(K::kColon)) return nullptr;
    const PatternNode* pattern = ParsePattern();
    if (pattern == nullptr) return nullptr;
    keys.push_back(key);
    patterns.push_back(pattern);
    if (!Accept(K::kComma)) break;
  }
  if (!Accept(K::kRBrace)) return nullptr;
  MatchMapping* node = Make<MatchMapping>(start);
  node->keys = builder_->Copy(keys.data(), keys.size());
  node->patterns = builder_->Copy(patterns.data(), patterns.size());
  node->rest = rest;
  return node;
}

const ExprNode* Parser::ParseLiteralKey() {
  switch (token_->kind) {
    case K::kNone: return MakeKeywordConstant(ConstantKind::kNone);
    case K::kTrue: return MakeKeywordConstant(ConstantKind::kTrue);
    case K::kFalse: return MakeKeywordConstant(ConstantKind::kFalse);
    case K::kNumber:
    case K::kMinus: return ParseNumberPattern();
    case K::kString:
    case K::kFStringStart: return ParseStringTokens();
    case K::kName: {
      const ExprNode* key = ParseAttr();
      return key != nullptr && key->Is<Attribute>() ? key : nullptr;
    }
    default: return nullptr;
  }
}

// ['-'] NUMBER, or ['-'] real ('+' | '-') imaginary
const ExprNode* Parser::ParseNumberPattern() {
  const Start start = Here();
  const bool negative = Accept(K::kMinus);
  if (!At(K::kNumber)) return nullptr;
  const Constant* number = ParseNumber(*token_);
  if (number == nullptr) return nullptr;
  const bool real = number->constant_kind != ConstantKind::kComplex;
  Advance();
  const ExprNode* left = number;
  if (negative) {
    UnaryOp* minus = Make<UnaryOp>(start);
    minus->op = UnaryOperator::USub;
    minus->operand = number;
    left = WithHeight(minus, 1);
  }
  if (!At(K::kPlus) && !At(K::kMinus)) return left;
  if (!real) return FailLiteralAt(*token_, "real number required in complex literal");
  const Operator op = At(K::kPlus) ? Operator::Add : Operator::Sub;
  Advance();
  if (!At(K::kNumber)) return nullptr;
  const Constant* imaginary = ParseNumber(*token_);
  if (imaginary == nullptr) return nullptr;
  if (imaginary->constant_kind != ConstantKind::kComplex) {
    return FailLiteralAt(*token_, "imaginary number required in complex literal");
  }
  Advance();
  BinOp* sum = Make<BinOp>(start);
  sum->left = left;
  sum->op = op;
  sum->right = imaginary;
  return WithHeight(sum, HeightOf(left, imaginary));
}

// A name other than `_` that is not followed by '.', '(' or '='.
Identifier Parser::ParseCaptureTarget() {
  if (!At(K::kName) || TextOf(*token_) == "_") return nullptr;
  const K next = Peek().kind;
  if (next == K::kDot || next == K::kLParen || next == K::kEqual) return nullptr;
  return TakeName();
}

}  // namespace ast
}  // namespace cobra::python
