// raise, try, except, except* and with.
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

using ast::StmtNode;

namespace {

// The exception that `raise v` raises: v itself, or a new instance if v is a class.
Result<Value> ExceptionOf(Interpreter& interp, Value v) {
  if (v.IsClass() && Interpreter::IsSubclassOf(v.as<ClassObject>(), interp.types().BaseException)) {
    COBRA_TRY_ASSIGN(v, interp.Call(v, {}));
  }
  if (!v.IsException()) return interp.Raise(interp.types().TypeError, "exceptions must derive from BaseException");
  return v;
}

// 1: the handler matches; 0: it does not match; -1: error.
int HandlerMatches(Interpreter& interp, Frame& frame, const ast::ExceptHandler* h, Value exception) {
  if (h->type == nullptr) return 1;
  Result<Value> type = Eval(interp, frame, h->type);
  if (!type.ok()) return -1;
  absl::Span<const Value> classes = absl::MakeConstSpan(&*type, 1);
  if (type->IsTuple()) classes = type->as<TupleObject>()->span();
  for (Value c : classes) {
    if (c.IsOpaque()) continue;  // an exception class of a missing module is never raised
    if (!c.IsClass() || !Interpreter::IsSubclassOf(c.as<ClassObject>(), interp.types().BaseException)) {
      frame.position = &h->type->pos;
      (void)interp.Raise(interp.types().TypeError,
                         "catching classes that do not inherit from BaseException is not allowed");
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
      names->table.EraseStr(NameOf(interp, frame.unit, frame.scope->Mangled(h->name)));
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
  if (c != Completion::kError || s->handlers.empty() ||
      !interp.CatchException(interp.types().BaseException, &exception))
    return c;
  // This frame is added to the traceback before any handler runs.
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

// State of an `except*` statement: the part of the exception left for the next handler, and what
// the handlers raised.
struct StarRun {
  Value original;
  Value rest;                  // None when everything was handled
  std::vector<Value> matched;  // the groups that handlers got: raising one again is not a new exception
  std::vector<Value> raised, reraised;
};

Completion RunStarHandler(Interpreter& interp, Frame& frame, const ast::ExceptHandler* h, StarRun* run) {
  COBRA_EXEC_ASSIGN(Value classes, Eval(interp, frame, h->type));
  frame.position = &h->type->pos;
  absl::Span<const Value> each = absl::MakeConstSpan(&classes, 1);
  if (classes.IsTuple()) each = classes.as<TupleObject>()->span();
  for (Value c : each) {
    if (!c.IsClass() || !Interpreter::IsSubclassOf(c.as<ClassObject>(), interp.types().BaseException)) {
      (void)interp.Raise(interp.types().TypeError,
                         "catching classes that do not inherit from BaseException is not allowed");
      return Completion::kError;
    }
    if (Interpreter::IsSubclassOf(c.as<ClassObject>(), interp.types().BaseExceptionGroup)) {
      (void)interp.Raise(interp.types().TypeError,
                         "catching ExceptionGroup with except* is not allowed. Use except instead.");
      return Completion::kError;
    }
  }
  COBRA_EXEC_ASSIGN(SplitGroup split, MatchExceptStar(interp, run->rest, classes));
  run->rest = split.rest;
  if (split.match.IsNone()) return Completion::kNormal;
  run->matched.push_back(split.match);
  interp.state().handled_exception = split.match;
  Completion c = RunHandler(interp, frame, h, split.match);
  Value exception;
  if (c != Completion::kError || !interp.CatchException(interp.types().BaseException, &exception)) return c;
  bool again = exception.IsSame(run->original);
  for (Value m : run->matched) again = again || m.IsSame(exception);
  (again ? run->reraised : run->raised).push_back(exception);
  return Completion::kNormal;
}

Completion FinishStar(Interpreter& interp, StarRun* run) {
  if (!run->rest.IsNone()) run->reraised.push_back(run->rest);
  Value again = Value::None();
  if (!run->reraised.empty()) COBRA_EXEC_SET(again, ProjectGroup(interp, run->original, run->reraised));
  if (run->raised.empty() && again.IsNone()) return Completion::kNormal;
  Value result = again;
  bool bare = !Interpreter::IsSubclassOf(run->original.object()->cls, interp.types().BaseExceptionGroup);
  if (!run->raised.empty() && bare) {  // only one handler can have run
    result = run->raised[0];
  } else if (!run->raised.empty()) {
    if (!again.IsNone()) run->raised.push_back(again);
    COBRA_EXEC_SET(result, interp.Call(Value(interp.types().BaseExceptionGroup),
                                       {Value(interp.NewStr("")), Value(interp.NewList(run->raised))}));
  }
  Value context = result.as<ExceptionObject>()->context;
  (void)interp.RaiseValue(result);
  result.as<ExceptionObject>()->context = context;
  return Completion::kError;
}

Completion ExecStarHandlers(Interpreter& interp, Frame& frame, const ast::TryStar* s) {
  ++frame.try_depth;
  Completion c = ExecBlock(interp, frame, s->body);
  --frame.try_depth;
  if (c == Completion::kNormal) return ExecBlock(interp, frame, s->orelse);
  StarRun run;
  if (c != Completion::kError || !interp.CatchException(interp.types().BaseException, &run.original)) return c;
  run.rest = run.original;
  Value outer = interp.state().handled_exception;
  for (const ast::ExceptHandler* h : s->handlers) {
    if (run.rest.IsNone()) break;
    interp.state().handled_exception = run.original;
    c = RunStarHandler(interp, frame, h, &run);
    interp.state().handled_exception = outer;
    if (c != Completion::kNormal) return c;
  }
  return FinishStar(interp, &run);
}

// Runs the finally block after the handlers ended with `c`.
Completion RunFinally(Interpreter& interp, Frame& frame, ast::Seq<StmtNode> finalbody, Completion c) {
  if (finalbody.empty()) return c;
  Value exception = Value::Unbound();
  Value result = frame.result;
  // Programs cannot observe a failure that is not a Python exception, so the finally block does not
  // run.
  if (c == Completion::kError && !interp.CatchException(interp.types().BaseException, &exception)) return c;
  Value outer = interp.state().handled_exception;
  const ast::Position* position = frame.position;
  if (exception.IsException()) interp.state().handled_exception = exception;
  Completion last = ExecBlock(interp, frame, finalbody);
  interp.state().handled_exception = outer;
  if (last != Completion::kNormal) return last;  // return, break or raise in finally replaces the previous completion
  frame.result = result;
  if (exception.IsException()) {
    frame.position = position;
    Value context = exception.as<ExceptionObject>()->context;
    (void)interp.RaiseValue(exception);
    exception.as<ExceptionObject>()->context = context;
  }
  return c;
}

// A with statement. An async with awaits the results of the methods of its context managers.
struct WithRun {
  ast::Seq<ast::WithItem> items;
  ast::Seq<StmtNode> body;
  bool is_async;
};

Result<Value> CallManager(Interpreter& interp, Frame& frame, const WithRun& run, Value manager, StrObject* method,
                          std::initializer_list<Value> args) {
  COBRA_TRY_ASSIGN(Value result, interp.CallSpecial(manager, method, args));
  if (run.is_async) return Await(interp, frame, result);
  return result;
}

Completion ExecWithItem(Interpreter& interp, Frame& frame, const WithRun& run, size_t index) {
  if (index == run.items.size()) return ExecBlock(interp, frame, run.body);
  const ast::WithItem* item = run.items[index];
  StrObject* enter_name = run.is_async ? interp.names().__aenter__ : interp.names().__enter__;
  StrObject* exit_name = run.is_async ? interp.names().__aexit__ : interp.names().__exit__;
  COBRA_EXEC_ASSIGN(Value manager, Eval(interp, frame, item->context_expr));
  frame.position = &item->context_expr->pos;
  ClassObject* cls = interp.class_of(manager);
  Value exit = interp.LookupClass(cls, exit_name);
  if (exit.IsUnbound() || interp.LookupClass(cls, enter_name).IsUnbound()) {
    if (manager.IsOpaque()) {
      (void)OpaqueUsed(interp, manager.as<OpaqueObject>()->dotted_name->view(), "with ");
    } else {
      (void)interp.Raise(interp.types().TypeError, "'", cls->name->view(), "' object does not support the ",
                         run.is_async ? "asynchronous " : "", "context manager protocol");
    }
    return Completion::kError;
  }
  COBRA_EXEC_ASSIGN(Value entered, CallManager(interp, frame, run, manager, enter_name, {}));
  Completion c = Completion::kNormal;
  if (item->optional_vars != nullptr && !Assign(interp, frame, item->optional_vars, entered).ok())
    c = Completion::kError;
  if (c == Completion::kNormal) c = ExecWithItem(interp, frame, run, index + 1);
  Value exception = Value::Unbound();
  if (c == Completion::kError && !interp.CatchException(interp.types().BaseException, &exception)) return c;
  Value result = frame.result;
  const ast::Position* position = frame.position;
  if (!exception.IsException()) {
    frame.position = &item->context_expr->pos;
    COBRA_EXEC(CallManager(interp, frame, run, manager, exit_name, {Value::None(), Value::None(), Value::None()}));
    frame.result = result;
    return c;
  }
  Value outer = interp.state().handled_exception;
  interp.state().handled_exception = exception;
  Result<Value> swallowed =
      CallManager(interp, frame, run, manager, exit_name, {Value(exception.object()->cls), exception, Value::None()});
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

}  // namespace

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

Completion ExecTry(Interpreter& interp, Frame& frame, const ast::Try* s) {
  return RunFinally(interp, frame, s->finalbody, ExecHandlers(interp, frame, s));
}

Completion ExecTryStar(Interpreter& interp, Frame& frame, const ast::TryStar* s) {
  return RunFinally(interp, frame, s->finalbody, ExecStarHandlers(interp, frame, s));
}

Completion ExecWith(Interpreter& interp, Frame& frame, const ast::With* s) {
  return ExecWithItem(interp, frame, WithRun{s->items, s->body, false}, 0);
}

Completion ExecAsyncWith(Interpreter& interp, Frame& frame, const ast::AsyncWith* s) {
  return ExecWithItem(interp, frame, WithRun{s->items, s->body, true}, 0);
}

}  // namespace cobra::python
