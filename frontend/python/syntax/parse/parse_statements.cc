// Statements. Every method begins at the first token of its construct and ends after its last one.
#include "frontend/python/syntax/parse/parser_impl.h"

namespace cobra::python {
namespace ast {

using K = TokenKind;

const Module* Parser::ParseFile() {
  Collector<StmtNode> body(this);
  while (!At(K::kEndMarker)) {
    if (!ParseStatement(&body)) return nullptr;
  }
  Module* module = builder_->Plain<Module>();
  module->body = body.Take();
  return module;
}

bool Parser::ParseStatement(Collector<StmtNode>* out) {
  DropUsedTokens();
  const StmtNode* statement = nullptr;
  switch (token_->kind) {
    case K::kIf: statement = ParseIf(); break;
    case K::kDef: statement = ParseFunction<FunctionDef>(Here(), {}); break;
    case K::kClass: statement = ParseClass({}); break;
    case K::kAt: statement = ParseDecorated(); break;
    case K::kFor: statement = ParseFor<For>(Here()); break;
    case K::kWhile: statement = ParseWhile(); break;
    case K::kTry: statement = ParseTry(); break;
    case K::kWith: statement = ParseWith<With>(Here()); break;
    case K::kAsync: statement = ParseAsync(); break;
    case K::kName:
      if (TextOf(*token_) == "match") {
        bool failed_inside = false;
        statement = TryParseMatch(&failed_inside);
        if (failed_inside) return false;
        if (statement != nullptr) break;
      }
      return ParseSimpleStatements(out);
    default: return ParseSimpleStatements(out);
  }
  if (statement == nullptr) return false;
  out->Add(statement);
  return true;
}

bool Parser::ParseSimpleStatements(Collector<StmtNode>* out) {
  for (;;) {
    const StmtNode* statement = ParseSimpleStatement();
    if (statement == nullptr) return false;
    out->Add(statement);
    if (Accept(K::kNewline)) return true;
    if (!Accept(K::kSemicolon)) return false;
    if (Accept(K::kNewline)) return true;
  }
}

const StmtNode* Parser::ParseSimpleStatement() {
  const Start start = Here();
  switch (token_->kind) {
    case K::kPass: Advance(); return Make<Pass>(start);
    case K::kBreak: Advance(); return Make<Break>(start);
    case K::kContinue: Advance(); return Make<Continue>(start);
    case K::kReturn: {
      Advance();
      const ExprNode* value = nullptr;
      if (StartsExpression(token_->kind) || At(K::kStar)) {
        if ((value = ParseStarExpressions()) == nullptr) return nullptr;
      }
      Return* node = Make<Return>(start);
      node->value = value;
      return node;
    }
    case K::kImport: return ParseImport();
    case K::kFrom: return ParseImportFrom();
    case K::kRaise: return ParseRaise();
    case K::kAssert: return ParseAssert();
    case K::kDel: return ParseDel();
    case K::kGlobal: return ParseNames(true);
    case K::kNonlocal: return ParseNames(false);
    default: return AtTypeAlias() ? ParseTypeAlias() : ParseExpressionStatement();
  }
}

const StmtNode* Parser::ParseExpressionStatement() {
  const Start start = Here();
  const bool parenthesised = At(K::kLParen);
  const ExprNode* value = ParseYieldOrStarExpressions();
  if (value == nullptr) return nullptr;
  if (At(K::kNewline)) {
    Expr* node = Make<Expr>(start);
    node->value = value;
    return node;
  }
  if (At(K::kEqual)) return ParseAssign(start, value);
  if (At(K::kColon)) return ParseAnnAssign(start, parenthesised, value);
  if (token_->kind >= K::kPlusEqual && token_->kind <= K::kDoubleSlashEqual) {
    static constexpr Operator kOperators[] = {Operator::Add,     Operator::Sub,   Operator::Mult,   Operator::MatMult,
                                              Operator::Div,     Operator::Mod,   Operator::Pow,    Operator::LShift,
                                              Operator::RShift,  Operator::BitOr, Operator::BitXor, Operator::BitAnd,
                                              Operator::FloorDiv};
    const Operator op = kOperators[static_cast<int>(token_->kind) - static_cast<int>(K::kPlusEqual)];
    const bool single = value->Is<Name>() || value->Is<Attribute>() || value->Is<Subscript>();
    if (!single || !SetContext(value, ExprContext::Store, false)) return nullptr;
    Advance();
    const ExprNode* right = ParseYieldOrStarExpressions();
    if (right == nullptr) return nullptr;
    AugAssign* node = Make<AugAssign>(start);
    node->target = value;
    node->op = op;
    node->value = right;
    return node;
  }
  Expr* node = Make<Expr>(start);
  node->value = value;
  return node;
}

const StmtNode* Parser::ParseAssign(Start start, const ExprNode* first) {
  Collector<ExprNode> targets(this);
  const ExprNode* value = first;
  while (At(K::kEqual)) {
    if (!SetContext(value, ExprContext::Store, true)) return nullptr;
    targets.Add(value);
    Advance();
    if ((value = ParseYieldOrStarExpressions()) == nullptr) return nullptr;
  }
  Assign* node = Make<Assign>(start);
  node->targets = targets.Take();
  node->value = value;
  return node;
}

const StmtNode* Parser::ParseAnnAssign(Start start, bool parenthesised, const ExprNode* target) {
  const bool single = target->Is<Name>() || target->Is<Attribute>() || target->Is<Subscript>();
  if (!single || !SetContext(target, ExprContext::Store, false)) return nullptr;
  Advance();
  const ExprNode* annotation = ParseExpressionNode();
  if (annotation == nullptr) return nullptr;
  const ExprNode* value = nullptr;
  if (Accept(K::kEqual)) {
    if ((value = ParseYieldOrStarExpressions()) == nullptr) return nullptr;
  }
  AnnAssign* node = Make<AnnAssign>(start);
  node->target = target;
  node->annotation = annotation;
  node->value = value;
  node->simple = target->Is<Name>() && !parenthesised;
  return node;
}

const StmtNode* Parser::ParseDel() {
  const Start start = Here();
  Advance();
  Collector<ExprNode> targets(this);
  do {
    if (targets.size() > 0 && !StartsExpression(token_->kind)) break;  // a trailing comma
    const ExprNode* target = ParsePrimary();
    if (target == nullptr || !SetContext(target, ExprContext::Del, false)) return nullptr;
    targets.Add(target);
  } while (Accept(K::kComma));
  if (!At(K::kSemicolon) && !At(K::kNewline)) return nullptr;
  Delete* node = Make<Delete>(start);
  node->targets = targets.Take();
  return node;
}

Identifier Parser::ParseDottedName() {
  if (!At(K::kName)) return nullptr;
  Identifier name = TakeName();
  if (!At(K::kDot)) return name;
  std::string dotted(name->text);
  while (Accept(K::kDot)) {
    Identifier part = TakeName();
    if (part == nullptr) return nullptr;
    dotted += '.';
    dotted.append(part->text.data(), part->text.size());
  }
  return builder_->Intern(dotted, false);
}

const StmtNode* Parser::ParseImport() {
  const Start start = Here();
  Advance();
  Collector<Alias> names(this);
  do {
    const Start alias_start = Here();
    Alias* alias = builder_->Plain<Alias>();
    if ((alias->name = ParseDottedName()) == nullptr) return nullptr;
    if (Accept(K::kAs) && (alias->asname = TakeName()) == nullptr) return nullptr;
    alias->pos = From(alias_start);
    names.Add(alias);
  } while (Accept(K::kComma));
  Import* node = Make<Import>(start);
  node->names = names.Take();
  return node;
}

const StmtNode* Parser::ParseImportFrom() {
  const Start start = Here();
  Advance();
  int level = 0;
  for (; At(K::kDot) || At(K::kEllipsis); Advance()) level += At(K::kDot) ? 1 : 3;
  Identifier module = nullptr;
  if (level == 0 || At(K::kName)) {
    if ((module = ParseDottedName()) == nullptr) return nullptr;
  }
  if (!Accept(K::kImport)) return nullptr;
  Collector<Alias> names(this);
  if (At(K::kStar)) {
    const Start alias_start = Here();
    Advance();
    Alias* alias = builder_->Plain<Alias>();
    alias->name = builder_->Intern("*", false);
    alias->pos = From(alias_start);
    names.Add(alias);
  } else {
    const bool parenthesised = Accept(K::kLParen);
    do {
      if (parenthesised && names.size() > 0 && At(K::kRParen)) break;
      const Start alias_start = Here();
      Alias* alias = builder_->Plain<Alias>();
      if ((alias->name = TakeName()) == nullptr) return nullptr;
      if (Accept(K::kAs) && (alias->asname = TakeName()) == nullptr) return nullptr;
      alias->pos = From(alias_start);
      names.Add(alias);
    } while (Accept(K::kComma));
    if (parenthesised && !Accept(K::kRParen)) return nullptr;
  }
  ImportFrom* node = Make<ImportFrom>(start);
  node->module = module;
  node->names = names.Take();
  node->level = level;
  return node;
}

const StmtNode* Parser::ParseNames(bool global) {
  const Start start = Here();
  Advance();
  Collector<Symbol> names(this);
  do {
    Identifier name = TakeName();
    if (name == nullptr) return nullptr;
    names.Add(name);
  } while (Accept(K::kComma));
  if (global) {
    Global* node = Make<Global>(start);
    node->names = names.Take();
    return node;
  }
  Nonlocal* node = Make<Nonlocal>(start);
  node->names = names.Take();
  return node;
}

const StmtNode* Parser::ParseRaise() {
  const Start start = Here();
  Advance();
  const ExprNode* exc = nullptr;
  const ExprNode* cause = nullptr;
  if (StartsExpression(token_->kind)) {
    if ((exc = ParseExpressionNode()) == nullptr) return nullptr;
    if (Accept(K::kFrom) && (cause = ParseExpressionNode()) == nullptr) return nullptr;
  }
  Raise* node = Make<Raise>(start);
  node->exc = exc;
  node->cause = cause;
  return node;
}

const StmtNode* Parser::ParseAssert() {
  const Start start = Here();
  Advance();
  const ExprNode* test = ParseExpressionNode();
  if (test == nullptr) return nullptr;
  const ExprNode* msg = nullptr;
  if (Accept(K::kComma) && (msg = ParseExpressionNode()) == nullptr) return nullptr;
  Assert* node = Make<Assert>(start);
  node->test = test;
  node->msg = msg;
  return node;
}

bool Parser::ParseBlock(Seq<StmtNode>* body) {
  Depth depth(this);
  if (depth.exceeded() || !Accept(K::kColon)) return false;
  Collector<StmtNode> statements(this);
  if (!Accept(K::kNewline)) {
    if (!ParseSimpleStatements(&statements)) return false;
  } else {
    if (!Accept(K::kIndent)) return false;
    do {
      if (!ParseStatement(&statements)) return false;
    } while (!At(K::kDedent) && !At(K::kEndMarker));
    if (!Accept(K::kDedent)) return false;
  }
  *body = statements.Take();
  return true;
}

bool Parser::ParseElse(Seq<StmtNode>* orelse) { return !Accept(K::kElse) || ParseBlock(orelse); }

const StmtNode* Parser::ParseDecorated() {
  Collector<ExprNode> decorators(this);
  while (Accept(K::kAt)) {
    const ExprNode* decorator = ParseNamedExpression();
    if (decorator == nullptr || !Accept(K::kNewline)) return nullptr;
    decorators.Add(decorator);
  }
  const Start start = Here();
  if (At(K::kClass)) return ParseClass(decorators.Take());
  if (At(K::kDef)) return ParseFunction<FunctionDef>(start, decorators.Take());
  if (Accept(K::kAsync) && At(K::kDef)) return ParseFunction<AsyncFunctionDef>(start, decorators.Take());
  return nullptr;
}

const StmtNode* Parser::ParseAsync() {
  const Start start = Here();
  Advance();
  switch (token_->kind) {
    case K::kDef: return ParseFunction<AsyncFunctionDef>(start, {});
    case K::kFor: return ParseFor<AsyncFor>(start);
    case K::kWith: return ParseWith<AsyncWith>(start);
    default: return nullptr;
  }
}

// Parses `if` and every `elif`, which is an If in the orelse of the previous one. They are read in
// a loop and linked from the last to the first.
const StmtNode* Parser::ParseIf() {
  struct Arm {
    Start start;
    const ExprNode* test;
    Seq<StmtNode> body;
  };
  std::vector<Arm> arms;
  Depth depth(this);
  do {
    if (depth_ + static_cast<int>(arms.size()) > limits_.syntax_depth) {
      FailDepth();
      return nullptr;
    }
    Arm arm{Here(), nullptr, {}};
    Advance();
    if ((arm.test = ParseNamedExpression()) == nullptr || !ParseBlock(&arm.body)) return nullptr;
    arms.push_back(arm);
  } while (At(K::kElif));
  Seq<StmtNode> orelse;
  if (!ParseElse(&orelse)) return nullptr;
  for (size_t i = arms.size();; --i) {
    If* node = Make<If>(arms[i - 1].start);
    node->test = arms[i - 1].test;
    node->body = arms[i - 1].body;
    node->orelse = orelse;
    if (i == 1) return node;
    const StmtNode* only = node;
    orelse = builder_->Copy(&only, 1);
  }
}

const StmtNode* Parser::ParseWhile() {
  const Start start = Here();
  Advance();
  const ExprNode* test = ParseNamedExpression();
  Seq<StmtNode> body, orelse;
  if (test == nullptr || !ParseBlock(&body) || !ParseElse(&orelse)) return nullptr;
  While* node = Make<While>(start);
  node->test = test;
  node->body = body;
  node->orelse = orelse;
  return node;
}

template <typename Node>
const StmtNode* Parser::ParseFor(Start start) {
  Advance();
  const ExprNode* target = ParseTargets();
  if (target == nullptr || !Accept(K::kIn)) return nullptr;
  const ExprNode* iter = ParseStarExpressions();
  Seq<StmtNode> body, orelse;
  if (iter == nullptr || !ParseBlock(&body) || !ParseElse(&orelse)) return nullptr;
  Node* node = Make<Node>(start);
  node->target = target;
  node->iter = iter;
  node->body = body;
  node->orelse = orelse;
  return node;
}

template <typename Node>
const StmtNode* Parser::ParseWith(Start start) {
  Advance();
  Seq<WithItem> items;
  bool done = false;
  if (At(K::kLParen)) {  // a list of items in parentheses, or an item that begins with one
    const Mark mark = Save();
    done = ParseWithItems(true, &items) && At(K::kColon);
    if (!done) {
      if (has_problem_) return nullptr;
      Restore(mark);
    }
  }
  if (!done && !ParseWithItems(false, &items)) return nullptr;
  Seq<StmtNode> body;
  if (!ParseBlock(&body)) return nullptr;
  Node* node = Make<Node>(start);
  node->items = items;
  node->body = body;
  return node;
}

bool Parser::ParseWithItems(bool parenthesised, Seq<WithItem>* items) {
  if (parenthesised) Advance();
  Collector<WithItem> list(this);
  do {
    if (parenthesised && list.size() > 0 && At(K::kRParen)) break;
    WithItem* item = builder_->Plain<WithItem>();
    if ((item->context_expr = ParseExpressionNode()) == nullptr) return false;
    if (Accept(K::kAs) && (item->optional_vars = ParseStarTarget()) == nullptr) return false;
    list.Add(item);
  } while (Accept(K::kComma));
  if (parenthesised && !Accept(K::kRParen)) return false;
  *items = list.Take();
  return true;
}

const StmtNode* Parser::ParseTry() {
  const Start start = Here();
  Advance();
  Seq<StmtNode> body, orelse, finalbody;
  if (!ParseBlock(&body)) return nullptr;
  Collector<ExceptHandler> handlers(this);
  bool star = false;
  while (At(K::kExcept)) {
    const bool this_star = Peek().kind == K::kStar;
    if (handlers.size() > 0 && this_star != star) return nullptr;
    star = this_star;
    const ExceptHandler* handler = ParseHandler(star);
    if (handler == nullptr) return nullptr;
    handlers.Add(handler);
  }
  if (handlers.size() > 0 && !ParseElse(&orelse)) return nullptr;
  if (Accept(K::kFinally)) {
    if (!ParseBlock(&finalbody)) return nullptr;
  } else if (handlers.size() == 0) {
    return nullptr;
  }
  const auto fill = [&](auto* node) {
    node->body = body;
    node->handlers = handlers.Take();
    node->orelse = orelse;
    node->finalbody = finalbody;
    return node;
  };
  if (star) return fill(Make<TryStar>(start));
  return fill(Make<Try>(start));
}

const ExceptHandler* Parser::ParseHandler(bool star) {
  const Start start = Here();
  Advance();
  if (star) Advance();
  ExceptHandler* handler = builder_->Plain<ExceptHandler>();
  if (star || !At(K::kColon)) {
    if ((handler->type = ParseExpressionNode()) == nullptr) return nullptr;
    if (Accept(K::kAs) && (handler->name = TakeName()) == nullptr) return nullptr;
  }
  if (!ParseBlock(&handler->body)) return nullptr;
  handler->pos = From(start);
  return handler;
}

template <typename Node>
const StmtNode* Parser::ParseFunction(Start start, Seq<ExprNode> decorators) {
  Advance();
  Identifier name = TakeName();
  Seq<TypeParam> type_params;
  if (name == nullptr || !ParseTypeParams(&type_params) || !Accept(K::kLParen)) return nullptr;
  const Arguments* args = ParseParameters(false);
  if (args == nullptr || !Accept(K::kRParen)) return nullptr;
  const ExprNode* returns = nullptr;
  if (Accept(K::kArrow) && (returns = ParseExpressionNode()) == nullptr) return nullptr;
  Seq<StmtNode> body;
  if (!ParseBlock(&body)) return nullptr;
  Node* node = Make<Node>(start);
  node->name = name;
  node->args = args;
  node->body = body;
  node->decorator_list = decorators;
  node->returns = returns;
  builder_->SetTypeParams(node, type_params);
  return node;
}

const StmtNode* Parser::ParseClass(Seq<ExprNode> decorators) {
  const Start start = Here();
  Advance();
  Identifier name = TakeName();
  Seq<TypeParam> type_params;
  if (name == nullptr || !ParseTypeParams(&type_params)) return nullptr;
  Seq<ExprNode> bases;
  Seq<Keyword> keywords;
  int height = 0;
  if (Accept(K::kLParen)) {
    if (!ParseCallArguments(false, &bases, &keywords, &height)) return nullptr;
  }
  Seq<StmtNode> body;
  if (!ParseBlock(&body)) return nullptr;
  ClassDef* node = Make<ClassDef>(start);
  node->name = name;
  node->bases = bases;
  node->keywords = keywords;
  node->body = body;
  node->decorator_list = decorators;
  builder_->SetTypeParams(node, type_params);
  return node;
}

}  // namespace ast
}  // namespace cobra::python
