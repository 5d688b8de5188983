// Statements. ExecBlock returns how the block ended; kError means that an error is pending in the interpreter.
#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/internal.h"

namespace cobra::python {

using ast::StmtKind;
using ast::StmtNode;

namespace {

Completion ExecStmt(Interpreter& interp, Frame& frame, const StmtNode* s);

Completion ExecIf(Interpreter& interp, Frame& frame, const ast::If* s) {
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
  COBRA_EXEC_ASSIGN(Value test, Eval(interp, frame, s->test));
  frame.position = &s->test->pos;
  COBRA_EXEC_ASSIGN(bool b, interp.Truth(test));
  if (b) return Completion::kNormal;
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
    case StmtKind::Expr: COBRA_EXEC(Eval(interp, frame, s->As<ast::Expr>()->value)); return Completion::kNormal;
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
    case StmtKind::AnnAssign: return ExecAnnAssign(interp, frame, s->As<ast::AnnAssign>());
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
