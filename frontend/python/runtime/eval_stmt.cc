// Statements. ExecBlock returns how the block ended; kError means that an error is pending in the interpreter.
#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/internal.h"

namespace cobra::python {

using ast::StmtKind;
using ast::StmtNode;

namespace {

// In functions that return a Completion.
#define COBRA_EXEC(expr) \
  do {                   \
    if (!(expr).ok()) return Completion::kError; \
  } while (false)
#define COBRA_EXEC_ASSIGN(lhs, expr) COBRA_EXEC_ASSIGN_IMPL_(COBRA_TRY_CONCAT_(cobra_result_, __LINE__), lhs, expr)
#define COBRA_EXEC_ASSIGN_IMPL_(var, lhs, expr) \
  auto var = (expr);                            \
  if (!var.ok()) return Completion::kError;     \
  lhs = std::move(*var)
#define COBRA_EXEC_SET(lhs, expr)                       \
  do {                                                  \
    auto cobra_result_ = (expr);                        \
    if (!cobra_result_.ok()) return Completion::kError; \
    lhs = std::move(*cobra_result_);                    \
  } while (false)

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
    // The target node is a Store; reading it means the same variable.
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
  known->as<DictObject>()->table.SetStr(interp.heap(), NameOf(interp, frame.unit, name->id), annotation);
  return Completion::kNormal;
}

// What `raise v` raises: an instance, made if v is a class.
Result<Value> ExceptionOf(Interpreter& interp, Value v) {
  if (v.IsClass() && Interpreter::IsSubclassOf(v.as<ClassObject>(), interp.types().BaseException)) {
    COBRA_TRY_ASSIGN(v, interp.Call(v, {}));
  }
  if (!v.IsException()) return interp.Raise(interp.types().TypeError, "exceptions must derive from BaseException");
  return v;
}

Completion ExecRaise(Interpreter& interp, Frame& frame, const ast::Raise* s) {
  if (s->exc == nullptr) {
    Value handled = interp.state().handled_exception;
    if (!handled.IsException()) {
      (void)interp.Raise(interp.types().RuntimeError, "No active exception to reraise");
      return Completion::kError;
    }
    (void)interp.RaiseValue(handled);
    return Completion::kError;
  }
  COBRA_EXEC_ASSIGN(Value v, Eval(interp, frame, s->exc));
  frame.position = &s->pos;
  COBRA_EXEC_ASSIGN(Value exception, ExceptionOf(interp, v));
  if (s->cause != nullptr) {
    COBRA_EXEC_ASSIGN(Value cause, Eval(interp, frame, s->cause));
    if (!cause.IsNone()) {
      frame.position = &s->pos;
      if (cause.IsClass()) {
        COBRA_EXEC_ASSIGN(cause, ExceptionOf(interp, cause));
      } else if (!cause.IsException()) {
        (void)interp.Raise(interp.types().TypeError, "exception causes must derive from BaseException");
        return Completion::kError;
      }
    }
    exception.as<ExceptionObject>()->cause = cause;
    exception.as<ExceptionObject>()->suppress_context = true;
  }
  frame.position = &s->pos;
  (void)interp.RaiseValue(exception);
  return Completion::kError;
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

// ---- try, with ----

// 1: the handler takes it; 0: no; -1: error.
int HandlerMatches(Interpreter& interp, Frame& frame, const ast::ExceptHandler* h, Value exception) {
  if (h->type == nullptr) return 1;
  Result<Value> type = Eval(interp, frame, h->type);
  if (!type.ok()) return -1;
  absl::Span<const Value> classes = absl::MakeConstSpan(&*type, 1);
  if (type->IsTuple()) classes = type->as<TupleObject>()->span();
  for (Value c : classes) {
    if (c.IsOpaque()) continue;  // an exception of a module that is not there is never raised
    if (!c.IsClass() || !Interpreter::IsSubclassOf(c.as<ClassObject>(), interp.types().BaseException)) {
      frame.position = &h->type->pos;
      (void)interp.Raise(interp.types().TypeError, "catching classes that do not inherit from BaseException is not allowed");
      return -1;
    }
    if (Interpreter::IsSubclassOf(exception.object()->cls, c.as<ClassObject>())) return 1;
  }
  return 0;
}

Completion RunHandler(Interpreter& interp, Frame& frame, const ast::ExceptHandler* h, Value exception) {
  if (h->name != nullptr && !StoreName(interp, frame, h->name, exception).ok()) return Completion::kError;
  Completion c = ExecBlock(interp, frame, h->body);
  if (h->name != nullptr) {  // the name is deleted at the end of the handler
    Ref ref = frame.scope->Resolve(frame.scope->Mangled(h->name));
    if (ref.kind == RefKind::kGlobal || ref.kind == RefKind::kName) {
      DictObject* names = ref.kind != RefKind::kGlobal && frame.names != nullptr ? frame.names : frame.globals;
      names->table.EraseStr(NameOf(interp, frame.unit, h->name));
    } else {
      (void)StoreRef(interp, frame, ref, nullptr, Value::Unbound());
    }
  }
  return c;
}

Completion ExecHandlers(Interpreter& interp, Frame& frame, const ast::Try* s) {
  if (!s->handlers.empty()) ++frame.try_depth;
  Completion c = ExecBlock(interp, frame, s->body);
  if (!s->handlers.empty()) --frame.try_depth;
  if (c == Completion::kNormal) return ExecBlock(interp, frame, s->orelse);
  Value exception;
  if (c != Completion::kError || s->handlers.empty() || !interp.CatchException(interp.types().BaseException, &exception)) return c;
  // The traceback has this frame in it before any handler runs.
  Value context = exception.as<ExceptionObject>()->context;
  (void)interp.RaiseValue(exception);
  exception.as<ExceptionObject>()->context = context;
  AddTraceback(interp, frame);
  interp.CatchException(interp.types().BaseException);
  Value outer = interp.state().handled_exception;
  interp.state().handled_exception = exception;
  for (const ast::ExceptHandler* h : s->handlers) {
    int match = HandlerMatches(interp, frame, h, exception);
    if (match == 0) continue;
    c = match < 0 ? Completion::kError : RunHandler(interp, frame, h, exception);
    interp.state().handled_exception = outer;
    return c;
  }
  interp.state().handled_exception = outer;
  context = exception.as<ExceptionObject>()->context;
  (void)interp.RaiseValue(exception);
  exception.as<ExceptionObject>()->context = context;
  return Completion::kError;
}

Completion ExecTry(Interpreter& interp, Frame& frame, const ast::Try* s) {
  Completion c = ExecHandlers(interp, frame, s);
  if (s->finalbody.empty()) return c;
  Value exception = Value::Unbound();
  Value result = frame.result;
  if (c == Completion::kError && !interp.CatchException(interp.types().BaseException, &exception)) return c;  // not for programs to see
  Value outer = interp.state().handled_exception;
  const ast::Position* position = frame.position;
  if (exception.IsException()) interp.state().handled_exception = exception;
  Completion last = ExecBlock(interp, frame, s->finalbody);
  interp.state().handled_exception = outer;
  if (last != Completion::kNormal) return last;  // return, break or raise in finally replaces what was going on
  frame.result = result;
  if (exception.IsException()) {
    frame.position = position;
    Value context = exception.as<ExceptionObject>()->context;
    (void)interp.RaiseValue(exception);
    exception.as<ExceptionObject>()->context = context;
  }
  return c;
}

Completion ExecWithItem(Interpreter& interp, Frame& frame, const ast::With* s, size_t index) {
  if (index == s->items.size()) return ExecBlock(interp, frame, s->body);
  const ast::WithItem* item = s->items[index];
  COBRA_EXEC_ASSIGN(Value manager, Eval(interp, frame, item->context_expr));
  frame.position = &item->context_expr->pos;
  ClassObject* cls = interp.class_of(manager);
  Value exit = interp.LookupClass(cls, interp.names().__exit__);
  if (exit.IsUnbound() || interp.LookupClass(cls, interp.names().__enter__).IsUnbound()) {
    if (manager.IsOpaque()) {
      (void)interp.Unsupported(absl::StrCat("with ", manager.as<OpaqueObject>()->dotted_name->view()));
    } else {
      (void)interp.Raise(interp.types().TypeError,
                         absl::StrCat("'", cls->name->view(), "' object does not support the context manager protocol"));
    }
    return Completion::kError;
  }
  COBRA_EXEC_ASSIGN(Value entered, interp.CallSpecial(manager, interp.names().__enter__, {}));
  Completion c = Completion::kNormal;
  if (item->optional_vars != nullptr && !Assign(interp, frame, item->optional_vars, entered).ok()) c = Completion::kError;
  if (c == Completion::kNormal) c = ExecWithItem(interp, frame, s, index + 1);
  Value exception = Value::Unbound();
  if (c == Completion::kError && !interp.CatchException(interp.types().BaseException, &exception)) return c;
  Value result = frame.result;
  const ast::Position* position = frame.position;
  if (!exception.IsException()) {
    frame.position = &item->context_expr->pos;
    COBRA_EXEC(interp.CallSpecial(manager, interp.names().__exit__, {Value::None(), Value::None(), Value::None()}));
    frame.result = result;
    return c;
  }
  Value outer = interp.state().handled_exception;
  interp.state().handled_exception = exception;
  Result<Value> swallowed =
      interp.CallSpecial(manager, interp.names().__exit__, {Value(exception.object()->cls), exception, Value::None()});
  Result<bool> handled = swallowed.ok() ? interp.Truth(*swallowed) : Result<bool>(Failure());
  interp.state().handled_exception = outer;
  COBRA_EXEC(handled);
  if (*handled) return Completion::kNormal;
  frame.position = position;
  Value context = exception.as<ExceptionObject>()->context;
  (void)interp.RaiseValue(exception);
  exception.as<ExceptionObject>()->context = context;
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
    case StmtKind::With: return ExecWithItem(interp, frame, s->As<ast::With>(), 0);
    case StmtKind::Match: return ExecMatch(interp, frame, s->As<ast::Match>());
    case StmtKind::Delete:
      for (const ast::ExprNode* target : s->As<ast::Delete>()->targets) COBRA_EXEC(DeleteTarget(interp, frame, target));
      return Completion::kNormal;
    case StmtKind::Pass:
    case StmtKind::Global:
    case StmtKind::Nonlocal: return Completion::kNormal;
    case StmtKind::Break: return Completion::kBreak;
    case StmtKind::Continue: return Completion::kContinue;
    case StmtKind::TryStar: (void)interp.Unsupported("except*"); return Completion::kError;
    case StmtKind::AsyncFor: (void)interp.Unsupported("async for"); return Completion::kError;
    case StmtKind::AsyncWith: (void)interp.Unsupported("async with"); return Completion::kError;
  }
  return Completion::kNormal;
}

}  // namespace

Completion ExecBlock(Interpreter& interp, Frame& frame, ast::Seq<StmtNode> body) {
  if (StackPointer() < interp.state().stack_low) {
    (void)interp.Raise(interp.types().RecursionError, "maximum recursion depth exceeded");
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
  InitCells(interp, frame);
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
