// Statements. ExecBlock returns how the block ended; kError means that an error is pending in the
// interpreter.
#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/eval/type_params.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/interpreter/read_notes.h"
#include "frontend/python/syntax/type_params.h"

namespace cobra::python {

bool Importer::DropFailure(Diagnostic::Kind kind) {
  std::unique_ptr<Diagnostic> failure = exchange_failure_(nullptr);
  if (failure != nullptr && failure->kind == kind) return true;
  exchange_failure_(std::move(failure));
  return false;
}

using ast::StmtKind;
using ast::StmtNode;

namespace {

Completion ExecStmt(Interpreter& interp, Frame& frame, const StmtNode* s);

// ---- guards: what only stops or shows a program, whatever it looks at, is not part of the
// network. Where it depends on the values of tensors, the network is that of the inputs on which
// the program goes on.

// After a failure: whether it was for want of values, and is dropped.
bool IsForMissingValues(Interpreter& interp, const Frame& frame, const ast::Position& pos, absl::string_view what) {
  if (!interp.importer().DropFailure(Diagnostic::Kind::kDataDependent)) return false;
  AddReadNote({frame.unit->display_name, pos.line, 0},
              absl::StrCat(what, " depends on the values of tensors; it is assumed that the program continues"));
  return true;
}

// Whether the program goes on in another way after an exception.
bool MayBeCaught(const Frame& innermost) {
  for (const Frame* frame = &innermost; frame != nullptr; frame = frame->back) {
    if (frame->try_depth > 0) return true;
  }
  return false;
}

enum class Outcome : uint8_t { kFalse, kTrue, kUnknown };

// The truth of a test, as far as it is known. Of `and`, `or` and `not` each part is evaluated by
// itself, so that the calls of the others are recorded.
Result<Outcome> GuardOutcome(Interpreter& interp, Frame& frame, const ast::ExprNode* test, absl::string_view what) {
  if (const auto* op = test->AsOrNull<ast::BoolOp>()) {
    const bool is_and = op->op == ast::BoolOperator::And;
    Outcome all = is_and ? Outcome::kTrue : Outcome::kFalse;
    for (const ast::ExprNode* part : op->values) {
      COBRA_TRY_ASSIGN(const Outcome one, GuardOutcome(interp, frame, part, what));
      if (one == (is_and ? Outcome::kFalse : Outcome::kTrue)) return one;
      if (one == Outcome::kUnknown) all = one;
    }
    return all;
  }
  if (const auto* op = test->AsOrNull<ast::UnaryOp>(); op != nullptr && op->op == ast::UnaryOperator::Not) {
    COBRA_TRY_ASSIGN(const Outcome inner, GuardOutcome(interp, frame, op->operand, what));
    return inner == Outcome::kUnknown ? inner : inner == Outcome::kTrue ? Outcome::kFalse : Outcome::kTrue;
  }
  Result<Value> value = Eval(interp, frame, test);
  frame.position = &test->pos;
  if (value.ok()) {
    Result<bool> truth = interp.Truth(*value);
    if (truth.ok()) return *truth ? Outcome::kTrue : Outcome::kFalse;
  }
  if (!MayBeCaught(frame) && IsForMissingValues(interp, frame, test->pos, what)) return Outcome::kUnknown;
  return Failure();
}

// if TEST: raise ...
bool OnlyRaises(const ast::If* s) { return s->body.size() == 1 && s->body[0]->Is<ast::Raise>() && s->orelse.empty(); }

Completion ExecGuard(Interpreter& interp, Frame& frame, const ast::If* s) {
  COBRA_EXEC_ASSIGN(const Outcome outcome, GuardOutcome(interp, frame, s->test, "whether it raises"));
  return outcome == Outcome::kTrue ? ExecBlock(interp, frame, s->body) : Completion::kNormal;
}

// print(...), logger.info(...)
bool IsPrint(const ast::ExprNode* e) {
  const auto* call = e->AsOrNull<ast::Call>();
  if (call == nullptr) return false;
  if (const auto* name = call->func->AsOrNull<ast::Name>()) return name->id->text == "print";
  const auto* method = call->func->AsOrNull<ast::Attribute>();
  if (method == nullptr) return false;
  constexpr absl::string_view kLogs[] = {"debug", "info", "warning", "warn", "error", "critical", "exception", "log"};
  return std::find(std::begin(kLogs), std::end(kLogs), method->attr->text) != std::end(kLogs);
}

Completion ExecExpression(Interpreter& interp, Frame& frame, const ast::ExprNode* e) {
  if (Eval(interp, frame, e).ok()) return Completion::kNormal;
  return IsPrint(e) && IsForMissingValues(interp, frame, e->pos, "what it prints") ? Completion::kNormal
                                                                                   : Completion::kError;
}

Completion ExecIf(Interpreter& interp, Frame& frame, const ast::If* s) {
  if (OnlyRaises(s)) return ExecGuard(interp, frame, s);
  COBRA_EXEC_ASSIGN(Value test, Eval(interp, frame, s->test));
  frame.position = &s->test->pos;
  COBRA_EXEC_ASSIGN(bool b, interp.Truth(test));
  return ExecBlock(interp, frame, b ? s->body : s->orelse);
}

Completion ExecWhile(Interpreter& interp, Frame& frame, const ast::While* s) {
  while (true) {
    COBRA_EXEC(interp.Step());
    COBRA_EXEC_ASSIGN(Value test, Eval(interp, frame, s->test));
    frame.position = &s->test->pos;
    COBRA_EXEC_ASSIGN(bool b, interp.Truth(test));
    if (!b) return ExecBlock(interp, frame, s->orelse);
    Completion c = ExecBlock(interp, frame, s->body);
    if (c == Completion::kBreak) return Completion::kNormal;
    if (c == Completion::kReturn || c == Completion::kError) return c;
  }
}

Completion ExecFor(Interpreter& interp, Frame& frame, const ast::For* s) {
  COBRA_EXEC_ASSIGN(Value iterable, Eval(interp, frame, s->iter));
  frame.position = &s->iter->pos;
  Completion end = Completion::kNormal;
  Result<void> done = interp.Iterate(iterable, [&](Value item) -> Result<bool> {
    COBRA_TRY(Assign(interp, frame, s->target, item));
    Completion c = ExecBlock(interp, frame, s->body);
    if (c == Completion::kError) return Failure();
    if (c == Completion::kBreak || c == Completion::kReturn) {
      end = c;
      return false;
    }
    return true;
  });
  COBRA_EXEC(done);
  if (end == Completion::kReturn) return end;
  if (end == Completion::kBreak) return Completion::kNormal;
  return ExecBlock(interp, frame, s->orelse);
}

Completion ExecAugAssign(Interpreter& interp, Frame& frame, const ast::AugAssign* s) {
  auto op = static_cast<Interpreter::BinaryOp>(s->op);
  auto apply = [&](Value old) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value right, Eval(interp, frame, s->value));
    frame.position = &s->pos;
    return interp.InPlace(op, old, right);
  };
  if (s->target->Is<ast::Name>()) {
    // The target node has the context Store; evaluating it reads the same variable.
    COBRA_EXEC_ASSIGN(Value old, Eval(interp, frame, s->target));
    COBRA_EXEC_ASSIGN(Value value, apply(old));
    COBRA_EXEC(Assign(interp, frame, s->target, value));
    return Completion::kNormal;
  }
  if (const auto* a = s->target->AsOrNull<ast::Attribute>()) {
    COBRA_EXEC_ASSIGN(Value object, Eval(interp, frame, a->value));
    StrObject* name = NameOfSymbol(interp, frame.unit, frame.unit->code->attribute_symbol(a->node_id));
    frame.position = &a->pos;
    COBRA_EXEC_ASSIGN(Value old, interp.GetAttr(object, name));
    COBRA_EXEC_ASSIGN(Value value, apply(old));
    COBRA_EXEC(interp.SetAttr(object, name, value));
    return Completion::kNormal;
  }
  const auto* subscript = s->target->As<ast::Subscript>();
  COBRA_EXEC_ASSIGN(Value object, Eval(interp, frame, subscript->value));
  COBRA_EXEC_ASSIGN(Value key, Eval(interp, frame, subscript->slice));
  frame.position = &subscript->pos;
  COBRA_EXEC_ASSIGN(Value old, interp.GetItem(object, key));
  COBRA_EXEC_ASSIGN(Value value, apply(old));
  COBRA_EXEC(interp.SetItem(object, key, value));
  return Completion::kNormal;
}
static_assert(static_cast<int>(ast::Operator::FloorDiv) == static_cast<int>(Interpreter::BinaryOp::kFloorDiv) &&
              static_cast<int>(ast::Operator::BitAnd) == static_cast<int>(Interpreter::BinaryOp::kBitAnd));

Completion ExecAnnAssign(Interpreter& interp, Frame& frame, const ast::AnnAssign* s) {
  if (s->value != nullptr) {
    COBRA_EXEC_ASSIGN(Value v, Eval(interp, frame, s->value));
    COBRA_EXEC(Assign(interp, frame, s->target, v));
  }
  ScopeKind kind = frame.scope->kind;
  if (!s->simple || (kind != ScopeKind::kModule && kind != ScopeKind::kClass)) return Completion::kNormal;
  Value annotation;
  if (frame.unit->code->future_annotations()) {
    annotation = interp.NewStr(frame.unit->code->ast().Text(s->annotation->pos));
  } else {
    COBRA_EXEC_ASSIGN(annotation, Eval(interp, frame, s->annotation));
  }
  DictObject* names = frame.names != nullptr ? frame.names : frame.globals;
  Value* known = names->table.GetStr(interp.names().__annotations__);
  if (known == nullptr || !known->IsDict()) {
    names->table.SetStr(interp.heap(), interp.names().__annotations__, interp.NewDict());
    known = names->table.GetStr(interp.names().__annotations__);
  }
  const auto* name = s->target->As<ast::Name>();
  known->as<DictObject>()->table.SetStr(interp.heap(), NameOf(interp, frame.unit, frame.scope->Mangled(name->id)),
                                        annotation);
  return Completion::kNormal;
}

Completion ExecAssert(Interpreter& interp, Frame& frame, const ast::Assert* s) {
  COBRA_EXEC_ASSIGN(const Outcome outcome, GuardOutcome(interp, frame, s->test, "the assertion"));
  if (outcome != Outcome::kFalse) return Completion::kNormal;
  Value exception;
  if (s->msg != nullptr) {
    COBRA_EXEC_ASSIGN(Value message, Eval(interp, frame, s->msg));
    frame.position = &s->pos;
    COBRA_EXEC_ASSIGN(exception, interp.Call(Value(interp.types().AssertionError), {message}));
  } else {
    frame.position = &s->pos;
    COBRA_EXEC_ASSIGN(exception, interp.Call(Value(interp.types().AssertionError), {}));
  }
  (void)interp.RaiseValue(exception);
  return Completion::kError;
}

Completion ExecStmt(Interpreter& interp, Frame& frame, const StmtNode* s) {
  frame.position = &s->pos;
  COBRA_EXEC(interp.Step());
  switch (s->node_kind) {
    case StmtKind::Expr: return ExecExpression(interp, frame, s->As<ast::Expr>()->value);
    case StmtKind::Assign: {
      const auto* a = s->As<ast::Assign>();
      COBRA_EXEC_ASSIGN(Value v, Eval(interp, frame, a->value));
      CountExpressions(interp, frame, a->targets.size());
      for (const ast::ExprNode* target : a->targets) COBRA_EXEC(Assign(interp, frame, target, v));
      return Completion::kNormal;
    }
    case StmtKind::Return: {
      const auto* r = s->As<ast::Return>();
      frame.result = Value::None();
      if (r->value != nullptr) COBRA_EXEC_SET(frame.result, Eval(interp, frame, r->value));
      return Completion::kReturn;
    }
    case StmtKind::If: return ExecIf(interp, frame, s->As<ast::If>());
    case StmtKind::For: return ExecFor(interp, frame, s->As<ast::For>());
    case StmtKind::While: return ExecWhile(interp, frame, s->As<ast::While>());
    case StmtKind::AugAssign: return ExecAugAssign(interp, frame, s->As<ast::AugAssign>());
    case StmtKind::AnnAssign:
      return ast::IsTypeAlias(s->As<ast::AnnAssign>()) ? ExecTypeAlias(interp, frame, s->As<ast::AnnAssign>())
                                                       : ExecAnnAssign(interp, frame, s->As<ast::AnnAssign>());
    case StmtKind::FunctionDef:
    case StmtKind::AsyncFunctionDef: return ExecFunctionDef(interp, frame, s);
    case StmtKind::ClassDef: return ExecClassDef(interp, frame, s->As<ast::ClassDef>());
    case StmtKind::Import: return ExecImport(interp, frame, s->As<ast::Import>());
    case StmtKind::ImportFrom: return ExecImportFrom(interp, frame, s->As<ast::ImportFrom>());
    case StmtKind::Raise: return ExecRaise(interp, frame, s->As<ast::Raise>());
    case StmtKind::Assert: return ExecAssert(interp, frame, s->As<ast::Assert>());
    case StmtKind::Try: return ExecTry(interp, frame, s->As<ast::Try>());
    case StmtKind::TryStar: return ExecTryStar(interp, frame, s->As<ast::TryStar>());
    case StmtKind::With: return ExecWith(interp, frame, s->As<ast::With>());
    case StmtKind::AsyncWith: return ExecAsyncWith(interp, frame, s->As<ast::AsyncWith>());
    case StmtKind::AsyncFor: return ExecAsyncFor(interp, frame, s->As<ast::AsyncFor>());
    case StmtKind::Match: return ExecMatch(interp, frame, s->As<ast::Match>());
    case StmtKind::Delete:
      CountExpressions(interp, frame, s->As<ast::Delete>()->targets.size());
      for (const ast::ExprNode* target : s->As<ast::Delete>()->targets) COBRA_EXEC(DeleteTarget(interp, frame, target));
      return Completion::kNormal;
    case StmtKind::Pass:
    case StmtKind::Global:
    case StmtKind::Nonlocal: return Completion::kNormal;
    case StmtKind::Break: return Completion::kBreak;
    case StmtKind::Continue: return Completion::kContinue;
  }
  return Completion::kNormal;
}

}  // namespace

Completion ExecBlock(Interpreter& interp, Frame& frame, ast::Seq<StmtNode> body) {
  if (StackPointer() < interp.stack_low()) {
    (void)interp.RaiseRecursion();
    return Completion::kError;
  }
  for (const StmtNode* s : body) {
    Completion c = ExecStmt(interp, frame, s);
    if (c != Completion::kNormal) return c;
  }
  return Completion::kNormal;
}

Result<Value> RunFrame(Interpreter& interp, Frame& frame) {
  RuntimeState& state = interp.state();
  frame.back = state.frame;
  state.frame = &frame;
  if (frame.position == nullptr) frame.position = &frame.scope->pos;
  if (!frame.scope->cell_slots.empty()) InitCells(interp, frame);
  Result<Value> result = Value::None();
  if (frame.scope->lambda_body != nullptr) {
    result = Eval(interp, frame, frame.scope->lambda_body);
  } else {
    Completion c = ExecBlock(interp, frame, frame.scope->body);
    if (c == Completion::kError) {
      result = Failure();
    } else if (c == Completion::kReturn) {
      result = frame.result;
    }
  }
  if (!result.ok()) AddTraceback(interp, frame);
  state.frame = frame.back;
  return result;
}

}  // namespace cobra::python
