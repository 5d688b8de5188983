// The contents of the brackets of calls, subscripts and definitions, and the targets of
// assignments.
#include "frontend/python/syntax/parse/parser_impl.h"

namespace cobra::python {
namespace ast {

using K = TokenKind;

// ---- arguments and slices ----

// Begins after the '(' and reads the ')'. `allow_bare_generator` allows f(x for x in y), whose
// GeneratorExp begins at the '('.
bool Parser::ParseCallArguments(bool allow_bare_generator, Seq<ExprNode>* args, Seq<Keyword>* keywords, int* height) {
  const Start open = {end_line_, end_col_ - 1};  // position of the '(' just read
  Collector<ExprNode> positional(this);
  std::vector<const Keyword*> named;
  bool double_starred = false;
  while (!At(K::kRParen)) {
    const Start start = Here();
    const ExprNode* value = nullptr;
    if (At(K::kName) && Peek().kind == K::kEqual) {
      Keyword* keyword = builder_->Plain<Keyword>();
      keyword->arg = TakeName();
      Advance();
      if ((value = ParseExpressionNode()) == nullptr) return false;
      keyword->value = value;
      keyword->pos = From(start);
      named.push_back(keyword);
    } else if (Accept(K::kDoubleStar)) {
      Keyword* keyword = builder_->Plain<Keyword>();
      if ((value = ParseExpressionNode()) == nullptr) return false;
      keyword->value = value;
      keyword->pos = From(start);
      named.push_back(keyword);
      double_starred = true;
    } else if (Accept(K::kStar)) {
      if (double_starred) return false;
      const ExprNode* inner = ParseExpressionNode();
      if (inner == nullptr) return false;
      Starred* starred = Make<Starred>(start);
      starred->value = inner;
      if ((value = WithHeight(starred, inner->height)) == nullptr) return false;
      positional.Add(value);
    } else {
      if (!named.empty() || (value = ParseNamedExpression()) == nullptr) return false;
      if ((At(K::kFor) || At(K::kAsync)) && allow_bare_generator && positional.size() == 0) {
        Seq<Comprehension> generators;
        if (!ParseGenerators(&generators) || !Accept(K::kRParen)) return false;
        GeneratorExp* node = Make<GeneratorExp>(open);
        node->elt = value;
        node->generators = generators;
        value = WithHeight(node, std::max<int>(value->height, HeightOf(generators)));
        if (value == nullptr) return false;
        *height = value->height;
        *args = builder_->Copy(&value, 1);
        return true;
      }
      positional.Add(value);
    }
    *height = std::max<int>(*height, value->height);
    if (!Accept(K::kComma)) break;
  }
  if (!Accept(K::kRParen)) return false;
  *args = positional.Take();
  *keywords = builder_->Copy(named.data(), named.size());
  return true;
}

const ExprNode* Parser::ParseSlices() {
  const Start start = Here();
  const bool starred = At(K::kStar);
  const ExprNode* first = ParseSlice();
  if (first == nullptr) return nullptr;
  if (!At(K::kComma) && !starred) return first;
  Collector<ExprNode> elements(this);
  elements.Add(first);
  while (Accept(K::kComma) && !At(K::kRSquare)) {
    const ExprNode* next = ParseSlice();
    if (next == nullptr) return nullptr;
    elements.Add(next);
  }
  Tuple* tuple = Make<Tuple>(start);
  tuple->elts = elements.Take();
  return WithHeight(tuple, HeightOf(tuple->elts));
}

const ExprNode* Parser::ParseSlice() {
  const Start start = Here();
  if (Accept(K::kStar)) {
    const ExprNode* value = ParseExpressionNode();
    if (value == nullptr) return nullptr;
    Starred* node = Make<Starred>(start);
    node->value = value;
    return WithHeight(node, value->height);
  }
  const ExprNode* lower = nullptr;
  if (!At(K::kColon)) {
    lower = ParseNamedExpression();
    if (lower == nullptr || !At(K::kColon)) return lower;
    if (lower->Is<NamedExpr>() && lower->pos.col == start.col && lower->pos.line == start.line) return nullptr;
  }
  Advance();
  const ExprNode* upper = nullptr;
  const ExprNode* step = nullptr;
  if (StartsExpression(token_->kind) && (upper = ParseExpressionNode()) == nullptr) return nullptr;
  if (Accept(K::kColon) && StartsExpression(token_->kind) && (step = ParseExpressionNode()) == nullptr) return nullptr;
  Slice* node = Make<Slice>(start);
  node->lower = lower;
  node->upper = upper;
  node->step = step;
  return WithHeight(node, HeightOf(lower, upper, step));
}

// ---- targets ----

// Parses the targets of `for`. Unlike in other targets, `in` ends them.
const ExprNode* Parser::ParseTargets() {
  const Start start = Here();
  const ExprNode* first = ParseStarTarget();
  if (first == nullptr || !At(K::kComma)) return first;
  Collector<ExprNode> elements(this);
  elements.Add(first);
  while (Accept(K::kComma) && (StartsExpression(token_->kind) || At(K::kStar))) {
    const ExprNode* next = ParseStarTarget();
    if (next == nullptr) return nullptr;
    elements.Add(next);
  }
  Tuple* tuple = Make<Tuple>(start);
  tuple->elts = elements.Take();
  tuple->ctx = ExprContext::Store;
  return WithHeight(tuple, HeightOf(tuple->elts));
}

const ExprNode* Parser::ParseStarTarget() {
  const Start start = Here();
  const bool starred = Accept(K::kStar);
  const ExprNode* target = ParsePrimary();
  if (target == nullptr || !SetContext(target, ExprContext::Store, false)) return nullptr;
  if (!starred) return target;
  Starred* node = Make<Starred>(start);
  node->value = target;
  node->ctx = ExprContext::Store;
  return WithHeight(node, target->height);
}

// Turns a parsed expression into a target; false if it cannot be one. The parser still owns the
// tree, so only this function may write to finished nodes.
bool Parser::SetContext(const ExprNode* node, ExprContext ctx, bool starred_allowed) {
  switch (node->node_kind) {
    case ExprKind::Name: const_cast<Name*>(node->As<Name>())->ctx = ctx; return true;
    case ExprKind::Attribute: const_cast<Attribute*>(node->As<Attribute>())->ctx = ctx; return true;
    case ExprKind::Subscript: const_cast<Subscript*>(node->As<Subscript>())->ctx = ctx; return true;
    case ExprKind::Starred: {
      Starred* starred = const_cast<Starred*>(node->As<Starred>());
      starred->ctx = ctx;
      return starred_allowed && SetContext(starred->value, ctx, false);
    }
    case ExprKind::Tuple:
    case ExprKind::List: {
      const bool tuple = node->Is<Tuple>();
      (tuple ? const_cast<Tuple*>(node->As<Tuple>())->ctx : const_cast<List*>(node->As<List>())->ctx) = ctx;
      for (const ExprNode* element : tuple ? node->As<Tuple>()->elts : node->As<List>()->elts) {
        if (!SetContext(element, ctx, ctx == ExprContext::Store)) return false;
      }
      return true;
    }
    default: return false;
  }
}

// ---- parameters ----

const ExprNode* Parser::ParseLambda() {
  const Start start = Here();
  Advance();
  const Arguments* args = ParseParameters(true);
  if (args == nullptr || !Accept(K::kColon)) return nullptr;
  const ExprNode* body = ParseExpressionNode();
  if (body == nullptr) return nullptr;
  Lambda* node = Make<Lambda>(start);
  node->args = args;
  node->body = body;
  return WithHeight(node, std::max<int>(body->height, HeightOf(*args)));
}

const Arguments* Parser::ParseParameters(bool lambda) {
  Arguments* args = builder_->Plain<Arguments>();
  return ParseParameterList(lambda, args) ? args : nullptr;
}

const Arg* Parser::ParseParameter(bool lambda, bool star) {
  const Start start = Here();
  Arg* arg = builder_->Plain<Arg>();
  if ((arg->arg = TakeName()) == nullptr) return nullptr;
  if (!lambda && Accept(K::kColon)) {
    arg->annotation = star ? ParseStarExpression() : ParseExpressionNode();
    if (arg->annotation == nullptr) return nullptr;
  }
  arg->pos = From(start);
  return arg;
}

// Parses up to the closing ')' or ':', which is not consumed.
bool Parser::ParseParameterList(bool lambda, Arguments* out) {
  const K close = lambda ? K::kColon : K::kRParen;
  std::vector<const Arg*> plain, keyword_only;
  std::vector<const ExprNode*> defaults, keyword_defaults;
  bool slash = false, star = false, bare_star = false;
  while (!At(close)) {
    if (Accept(K::kSlash)) {
      if (slash || star || plain.empty()) return false;
      slash = true;
      out->posonlyargs = builder_->Copy(plain.data(), plain.size());
      plain.clear();
    } else if (Accept(K::kStar)) {
      if (star) return false;
      star = true;
      bare_star = At(K::kComma);
      if (!bare_star && (out->vararg = ParseParameter(lambda, true)) == nullptr) return false;
    } else if (Accept(K::kDoubleStar)) {
      if (bare_star && keyword_only.empty()) return false;
      if ((out->kwarg = ParseParameter(lambda, false)) == nullptr) return false;
      Accept(K::kComma);
      break;
    } else {
      const Arg* arg = ParseParameter(lambda, false);
      if (arg == nullptr) return false;
      const ExprNode* value = nullptr;
      if (Accept(K::kEqual) && (value = ParseExpressionNode()) == nullptr) return false;
      if (star) {
        keyword_only.push_back(arg);
        keyword_defaults.push_back(value);
      } else {
        if (value == nullptr && !defaults.empty()) return false;
        plain.push_back(arg);
        if (value != nullptr) defaults.push_back(value);
      }
    }
    if (!Accept(K::kComma)) break;
  }
  if (!At(close) || (bare_star && keyword_only.empty())) return false;
  out->args = builder_->Copy(plain.data(), plain.size());
  out->kwonlyargs = builder_->Copy(keyword_only.data(), keyword_only.size());
  out->kw_defaults = builder_->Copy(keyword_defaults.data(), keyword_defaults.size());
  out->defaults = builder_->Copy(defaults.data(), defaults.size());
  return true;
}

}  // namespace ast
}  // namespace cobra::python
