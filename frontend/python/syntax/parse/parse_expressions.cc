// Expressions.
#include "frontend/python/syntax/parse/parser_impl.h"

namespace cobra::python {
namespace ast {

using K = TokenKind;

namespace {

// Precedence of binary operators; 0: the token is not a binary operator.
enum Precedence : uint8_t {
  kNoOperator = 0,
  kOr,
  kAnd,
  kNot,
  kComparison,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kSum,
  kTerm,
};

struct TokenTable {
  uint8_t precedence[256] = {};
  bool starts_expression[256] = {};
  Operator op[256] = {};
  constexpr TokenTable() {
    Set(K::kOr, kOr);
    Set(K::kAnd, kAnd);
    for (K k :
         {K::kEqEqual, K::kNotEqual, K::kLess, K::kLessEqual, K::kGreater, K::kGreaterEqual, K::kIs, K::kIn, K::kNot}) {
      Set(k, kComparison);
    }
    Set(K::kVBar, kBitOr, Operator::BitOr);
    Set(K::kCircumflex, kBitXor, Operator::BitXor);
    Set(K::kAmper, kBitAnd, Operator::BitAnd);
    Set(K::kLeftShift, kShift, Operator::LShift);
    Set(K::kRightShift, kShift, Operator::RShift);
    Set(K::kPlus, kSum, Operator::Add);
    Set(K::kMinus, kSum, Operator::Sub);
    Set(K::kStar, kTerm, Operator::Mult);
    Set(K::kAt, kTerm, Operator::MatMult);
    Set(K::kSlash, kTerm, Operator::Div);
    Set(K::kPercent, kTerm, Operator::Mod);
    Set(K::kDoubleSlash, kTerm, Operator::FloorDiv);
    for (K k : {K::kName, K::kNumber, K::kString, K::kFStringStart, K::kLParen, K::kLSquare, K::kLBrace, K::kEllipsis,
                K::kPlus, K::kMinus, K::kTilde, K::kNot, K::kLambda, K::kAwait, K::kNone, K::kTrue, K::kFalse}) {
      starts_expression[static_cast<int>(k)] = true;
    }
  }
  constexpr void Set(K k, uint8_t p, Operator o = Operator::Add) {
    precedence[static_cast<int>(k)] = p;
    op[static_cast<int>(k)] = o;
  }
};
constexpr TokenTable kTokens;

}  // namespace

bool Parser::StartsExpression(K kind) { return kTokens.starts_expression[static_cast<int>(kind)]; }

int Parser::HeightOf(Seq<ExprNode> nodes) {
  int height = 0;
  for (const ExprNode* node : nodes) height = std::max<int>(height, node == nullptr ? 0 : node->height);
  return height;
}

int Parser::HeightOf(Seq<Comprehension> generators) {
  int height = 0;
  for (const Comprehension* g : generators) {
    height = std::max({height, HeightOf(g->target, g->iter), HeightOf(g->ifs)});
  }
  return height;
}

int Parser::HeightOf(const Arguments& args) { return std::max(HeightOf(args.defaults), HeightOf(args.kw_defaults)); }

// ---- lists of expressions ----

const ExprNode* Parser::ParseYieldOrStarExpressions() { return At(K::kYield) ? ParseYield() : ParseStarExpressions(); }

const ExprNode* Parser::ParseYield() {
  const Start start = Here();
  Advance();
  if (Accept(K::kFrom)) {
    const ExprNode* value = ParseExpressionNode();
    if (value == nullptr) return nullptr;
    YieldFrom* node = Make<YieldFrom>(start);
    node->value = value;
    return WithHeight(node, value->height);
  }
  const ExprNode* value = nullptr;
  if (StartsExpression(token_->kind) || At(K::kStar)) {
    if ((value = ParseStarExpressions()) == nullptr) return nullptr;
  }
  Yield* node = Make<Yield>(start);
  node->value = value;
  return WithHeight(node, HeightOf(value));
}

const ExprNode* Parser::ParseStarExpressions() {
  const Start start = Here();
  const ExprNode* first = ParseStarExpression();
  if (first == nullptr || !At(K::kComma)) return first;
  Collector<ExprNode> elements(this);
  elements.Add(first);
  while (Accept(K::kComma) && (StartsExpression(token_->kind) || At(K::kStar))) {
    const ExprNode* next = ParseStarExpression();
    if (next == nullptr) return nullptr;
    elements.Add(next);
  }
  Tuple* tuple = Make<Tuple>(start);
  tuple->elts = elements.Take();
  return WithHeight(tuple, HeightOf(tuple->elts));
}

const ExprNode* Parser::ParseStarExpression() {
  if (!At(K::kStar)) return ParseExpressionNode();
  const Start start = Here();
  Advance();
  const ExprNode* value = ParseOperators(kBitOr);
  if (value == nullptr) return nullptr;
  Starred* node = Make<Starred>(start);
  node->value = value;
  return WithHeight(node, value->height);
}

const ExprNode* Parser::ParseStarNamedExpression() {
  return At(K::kStar) ? ParseStarExpression() : ParseNamedExpression();
}

const ExprNode* Parser::ParseNamedExpression() {
  if (!At(K::kName) || Peek().kind != K::kColonEqual) return ParseExpressionNode();
  const Start start = Here();
  Identifier id = TakeName();
  Name* target = Make<Name>(start);
  target->id = id;
  target->ctx = ExprContext::Store;
  Advance();
  const ExprNode* value = ParseExpressionNode();
  if (value == nullptr) return nullptr;
  NamedExpr* node = Make<NamedExpr>(start);
  node->target = target;
  node->value = value;
  return WithHeight(node, value->height);
}

bool Parser::ParseElements(Collector<ExprNode>* elements, K close) {
  while (!At(close)) {
    const ExprNode* element = ParseStarNamedExpression();
    if (element == nullptr) return false;
    elements->Add(element);
    if (!Accept(K::kComma)) break;
  }
  return true;
}

// ---- operators ----

const ExprNode* Parser::ParseExpressionNode() {
  Depth depth(this);
  if (depth.exceeded()) return nullptr;
  if (At(K::kLambda)) return ParseLambda();
  const Start start = Here();
  const ExprNode* body = ParseOperators(kOr);
  if (body == nullptr || !Accept(K::kIf)) return body;
  const ExprNode* test = ParseOperators(kOr);
  if (test == nullptr || !Accept(K::kElse)) return nullptr;
  const ExprNode* orelse = ParseExpressionNode();
  if (orelse == nullptr) return nullptr;
  IfExp* node = Make<IfExp>(start);
  node->test = test;
  node->body = body;
  node->orelse = orelse;
  return WithHeight(node, HeightOf(test, body, orelse));
}

// Parses operators whose precedence is at least `min_precedence` (precedence climbing); this loop
// reads left-associative chains.
const ExprNode* Parser::ParseOperators(int min_precedence) {
  const Start start = Here();
  const ExprNode* left = ParseUnary(min_precedence);
  while (left != nullptr) {
    const int precedence = kTokens.precedence[static_cast<int>(token_->kind)];
    if (precedence == kNoOperator || precedence < min_precedence) return left;
    if (precedence > kComparison) {
      const Operator op = kTokens.op[static_cast<int>(token_->kind)];
      Advance();
      const ExprNode* right = ParseOperators(precedence + 1);
      if (right == nullptr) return nullptr;
      BinOp* node = Make<BinOp>(start);
      node->left = left;
      node->op = op;
      node->right = right;
      left = WithHeight(node, HeightOf(left, right));
    } else if (precedence == kComparison) {
      if (At(K::kNot) && Peek().kind != K::kIn) return left;
      left = ParseComparison(start, left);
    } else {
      left = ParseBoolOp(start, left, token_->kind);
    }
  }
  return nullptr;
}

const ExprNode* Parser::ParseBoolOp(Start start, const ExprNode* first, K word) {
  Collector<ExprNode> values(this);
  values.Add(first);
  while (Accept(word)) {
    const ExprNode* value = ParseOperators(word == K::kOr ? kAnd : kNot);
    if (value == nullptr) return nullptr;
    values.Add(value);
  }
  BoolOp* node = Make<BoolOp>(start);
  node->op = word == K::kOr ? BoolOperator::Or : BoolOperator::And;
  node->values = values.Take();
  return WithHeight(node, HeightOf(node->values));
}

bool Parser::TakeCmpOperator(CmpOperator* op) {
  switch (token_->kind) {
    case K::kEqEqual: *op = CmpOperator::Eq; break;
    case K::kNotEqual: *op = CmpOperator::NotEq; break;
    case K::kLess: *op = CmpOperator::Lt; break;
    case K::kLessEqual: *op = CmpOperator::LtE; break;
    case K::kGreater: *op = CmpOperator::Gt; break;
    case K::kGreaterEqual: *op = CmpOperator::GtE; break;
    case K::kIn: *op = CmpOperator::In; break;
    case K::kIs:
      Advance();
      *op = Accept(K::kNot) ? CmpOperator::IsNot : CmpOperator::Is;
      return true;
    case K::kNot:
      if (Peek().kind != K::kIn) return false;
      Advance();
      *op = CmpOperator::NotIn;
      break;
    default: return false;
  }
  Advance();
  return true;
}

const ExprNode* Parser::ParseComparison(Start start, const ExprNode* left) {
  Collector<ExprNode> comparators(this);
  std::vector<CmpOperator> more_ops;
  CmpOperator first_op, op;
  while (TakeCmpOperator(&op)) {
    if (comparators.size() == 0) {
      first_op = op;
    } else {
      if (more_ops.empty()) more_ops.push_back(first_op);
      more_ops.push_back(op);
    }
    const ExprNode* right = ParseOperators(kBitOr);
    if (right == nullptr) return nullptr;
    comparators.Add(right);
  }
  Compare* node = Make<Compare>(start);
  node->left = left;
  node->ops = more_ops.empty() ? builder_->Copy(&first_op, 1) : builder_->Copy(more_ops.data(), more_ops.size());
  node->comparators = comparators.Take();
  return WithHeight(node, std::max<int>(left->height, HeightOf(node->comparators)));
}

const ExprNode* Parser::ParseUnary(int min_precedence) {
  UnaryOperator op;
  switch (token_->kind) {
    case K::kMinus: op = UnaryOperator::USub; break;
    case K::kPlus: op = UnaryOperator::UAdd; break;
    case K::kTilde: op = UnaryOperator::Invert; break;
    case K::kNot:
      if (min_precedence > kNot) return nullptr;
      op = UnaryOperator::Not;
      break;
    default: return ParsePower();
  }
  Depth depth(this);
  if (depth.exceeded()) return nullptr;
  const Start start = Here();
  Advance();
  const ExprNode* operand = op == UnaryOperator::Not ? ParseOperators(kNot) : ParseUnary(kTerm);
  if (operand == nullptr) return nullptr;
  UnaryOp* node = Make<UnaryOp>(start);
  node->op = op;
  node->operand = operand;
  return WithHeight(node, operand->height);
}

// ['await'] primary ['**' factor]
const ExprNode* Parser::ParsePower() {
  const Start start = Here();
  const bool awaited = Accept(K::kAwait);
  const ExprNode* base = ParsePrimary();
  if (base == nullptr) return nullptr;
  if (awaited) {
    Await* node = Make<Await>(start);
    node->value = base;
    if ((base = WithHeight(node, base->height)) == nullptr) return nullptr;
  }
  if (!At(K::kDoubleStar)) return base;
  Depth depth(this);
  if (depth.exceeded()) return nullptr;
  Advance();
  const ExprNode* exponent = ParseUnary(kTerm);
  if (exponent == nullptr) return nullptr;
  BinOp* node = Make<BinOp>(start);
  node->left = base;
  node->op = Operator::Pow;
  node->right = exponent;
  return WithHeight(node, HeightOf(base, exponent));
}

// ---- primaries ----

const ExprNode* Parser::ParsePrimary() {
  const Start start = Here();
  const ExprNode* value = ParseAtom();
  while (value != nullptr) {
    switch (token_->kind) {
      case K::kDot: {
        Advance();
        Identifier attr = TakeName();
        if (attr == nullptr) return nullptr;
        Attribute* node = Make<Attribute>(start);
        node->value = value;
        node->attr = attr;
        value = WithHeight(node, value->height);
        break;
      }
      case K::kLParen: {
        Advance();
        Seq<ExprNode> args;
        Seq<Keyword> keywords;
        int height = 0;
        if (!ParseCallArguments(true, &args, &keywords, &height)) return nullptr;
        Call* node = Make<Call>(start);
        node->func = value;
        node->args = args;
        node->keywords = keywords;
        value = WithHeight(node, std::max<int>(height, value->height));
        break;
      }
      case K::kLSquare: {
        Advance();
        const ExprNode* slice = ParseSlices();
        if (slice == nullptr || !Accept(K::kRSquare)) return nullptr;
        Subscript* node = Make<Subscript>(start);
        node->value = value;
        node->slice = slice;
        value = WithHeight(node, HeightOf(value, slice));
        break;
      }
      default: return value;
    }
  }
  return nullptr;
}

const ExprNode* Parser::MakeKeywordConstant(ConstantKind kind) {
  const Start start = Here();
  Advance();
  Constant* node = Make<Constant>(start);
  node->constant_kind = kind;
  return node;
}

const ExprNode* Parser::ParseAtom() {
  switch (token_->kind) {
    case K::kName: {
      const Start start = Here();
      Identifier id = NameOfToken(*token_);
      Advance();
      Name* node = Make<Name>(start);
      node->id = id;
      return node;
    }
    case K::kNumber: {
      const Constant* number = ParseNumber(*token_);
      if (number != nullptr) Advance();
      return number;
    }
    case K::kString:
    case K::kFStringStart: return ParseStringTokens();
    case K::kLParen: return ParseParenthesised();
    case K::kLSquare: return ParseList();
    case K::kLBrace: return ParseBraces();
    case K::kNone: return MakeKeywordConstant(ConstantKind::kNone);
    case K::kTrue: return MakeKeywordConstant(ConstantKind::kTrue);
    case K::kFalse: return MakeKeywordConstant(ConstantKind::kFalse);
    case K::kEllipsis: return MakeKeywordConstant(ConstantKind::kEllipsis);
    default: return nullptr;
  }
}

// tuple, group or generator expression
const ExprNode* Parser::ParseParenthesised() {
  const Start start = Here();
  Advance();
  Collector<ExprNode> elements(this);
  if (!At(K::kRParen)) {
    if (At(K::kYield)) {
      const ExprNode* value = ParseYield();
      return value != nullptr && Accept(K::kRParen) ? value : nullptr;
    }
    const ExprNode* first = ParseStarNamedExpression();
    if (first == nullptr) return nullptr;
    if (At(K::kRParen) && !first->Is<Starred>()) {
      Advance();
      return first;
    }
    if (At(K::kFor) || At(K::kAsync)) {
      Seq<Comprehension> generators;
      if (first->Is<Starred>() || !ParseGenerators(&generators) || !Accept(K::kRParen)) return nullptr;
      GeneratorExp* node = Make<GeneratorExp>(start);
      node->elt = first;
      node->generators = generators;
      return WithHeight(node, std::max<int>(first->height, HeightOf(generators)));
    }
    elements.Add(first);
    if (!Accept(K::kComma) || !ParseElements(&elements, K::kRParen)) return nullptr;
  }
  if (!Accept(K::kRParen)) return nullptr;
  Tuple* tuple = Make<Tuple>(start);
  tuple->elts = elements.Take();
  return WithHeight(tuple, HeightOf(tuple->elts));
}

const ExprNode* Parser::ParseList() {
  const Start start = Here();
  Advance();
  Collector<ExprNode> elements(this);
  if (!At(K::kRSquare)) {
    const ExprNode* first = ParseStarNamedExpression();
    if (first == nullptr) return nullptr;
    if (At(K::kFor) || At(K::kAsync)) {
      Seq<Comprehension> generators;
      if (first->Is<Starred>() || !ParseGenerators(&generators) || !Accept(K::kRSquare)) return nullptr;
      ListComp* node = Make<ListComp>(start);
      node->elt = first;
      node->generators = generators;
      return WithHeight(node, std::max<int>(first->height, HeightOf(generators)));
    }
    elements.Add(first);
    if (Accept(K::kComma) && !ParseElements(&elements, K::kRSquare)) return nullptr;
  }
  if (!Accept(K::kRSquare)) return nullptr;
  List* list = Make<List>(start);
  list->elts = elements.Take();
  return WithHeight(list, HeightOf(list->elts));
}

// dict, set, or a comprehension of either
const ExprNode* Parser::ParseBraces() {
  const Start start = Here();
  Advance();
  if (At(K::kRBrace) || At(K::kDoubleStar)) return ParseDict(start, nullptr);
  const ExprNode* first = ParseStarNamedExpression();
  if (first == nullptr) return nullptr;
  if (At(K::kColon) && !first->Is<Starred>()) return ParseDict(start, first);
  if (At(K::kFor) || At(K::kAsync)) {
    Seq<Comprehension> generators;
    if (first->Is<Starred>() || !ParseGenerators(&generators) || !Accept(K::kRBrace)) return nullptr;
    SetComp* node = Make<SetComp>(start);
    node->elt = first;
    node->generators = generators;
    return WithHeight(node, std::max<int>(first->height, HeightOf(generators)));
  }
  Collector<ExprNode> elements(this);
  elements.Add(first);
  if (Accept(K::kComma) && !ParseElements(&elements, K::kRBrace)) return nullptr;
  if (!Accept(K::kRBrace)) return nullptr;
  Set* set = Make<Set>(start);
  set->elts = elements.Take();
  return WithHeight(set, HeightOf(set->elts));
}

// Begins after '{' or, with `first_key`, at the ':' after that key. Keys and values alternate on
// the stack.
const ExprNode* Parser::ParseDict(Start start, const ExprNode* first_key) {
  Collector<ExprNode> pairs(this);
  const ExprNode* key = first_key;
  while (!At(K::kRBrace)) {
    const ExprNode* value = nullptr;
    if (key == nullptr && Accept(K::kDoubleStar)) {
      value = ParseOperators(kBitOr);
    } else {
      if (key == nullptr && (key = ParseExpressionNode()) == nullptr) return nullptr;
      // The first key was parsed as an element of a set, which allows `a := 1`; a key of a dict
      // does not: `{a := 1: 2}`.
      if (key == first_key && key->Is<NamedExpr>() && end_col_ == key->pos.end_col && end_line_ == key->pos.end_line) {
        return nullptr;
      }
      if (!Accept(K::kColon)) return nullptr;
      value = ParseExpressionNode();
    }
    if (value == nullptr) return nullptr;
    if (key != nullptr && key == first_key && pairs.size() == 0 && (At(K::kFor) || At(K::kAsync))) {
      Seq<Comprehension> generators;
      if (!ParseGenerators(&generators) || !Accept(K::kRBrace)) return nullptr;
      DictComp* node = Make<DictComp>(start);
      node->key = key;
      node->value = value;
      node->generators = generators;
      return WithHeight(node, std::max(HeightOf(key, value), HeightOf(generators)));
    }
    pairs.Add(key);
    pairs.Add(value);
    key = nullptr;
    if (!Accept(K::kComma)) break;
  }
  if (!Accept(K::kRBrace)) return nullptr;
  const Seq<ExprNode> all = pairs.Take();
  std::vector<const ExprNode*> half(all.size() / 2);
  Dict* dict = Make<Dict>(start);
  for (size_t i = 0; i < half.size(); ++i) half[i] = all[2 * i];
  dict->keys = builder_->Copy(half.data(), half.size());
  for (size_t i = 0; i < half.size(); ++i) half[i] = all[2 * i + 1];
  dict->values = builder_->Copy(half.data(), half.size());
  return WithHeight(dict, HeightOf(all));
}

bool Parser::ParseGenerators(Seq<Comprehension>* generators) {
  Collector<Comprehension> list(this);
  while (At(K::kFor) || At(K::kAsync)) {
    Comprehension* generator = builder_->Plain<Comprehension>();
    generator->is_async = Accept(K::kAsync);
    if (!Accept(K::kFor) || (generator->target = ParseTargets()) == nullptr || !Accept(K::kIn)) return false;
    if ((generator->iter = ParseOperators(kOr)) == nullptr) return false;
    list.Add(generator);
    Collector<ExprNode> ifs(this);
    while (Accept(K::kIf)) {
      const ExprNode* condition = ParseOperators(kOr);
      if (condition == nullptr) return false;
      ifs.Add(condition);
    }
    generator->ifs = ifs.Take();
  }
  *generators = list.Take();
  return true;
}

const ExprNode* Parser::ParseStringTokens() {
  if (version_ >= 12) return ParseStringsOfTokens();
  if (Peek().kind != K::kString) {
    const ExprNode* node = ParseStrings(absl::Span<const Token>(token_, 1));
    if (node != nullptr) Advance();
    return node;
  }
  // Further reading may move the tokens: copies them, and examines them when all are read.
  std::vector<Token> tokens;
  for (; At(K::kString); Advance()) tokens.push_back(*token_);
  return ParseStrings(tokens);
}

}  // namespace ast
}  // namespace cobra::python
