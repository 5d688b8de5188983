// Generators. The body of a def with yield runs on a Coroutine of its own; a generator expression
// needs none, because it can only stop between items: it keeps one iterator per `for`.
#include "frontend/python/runtime/eval/generator.h"

#include "absl/strings/str_cat.h"
#include "base/text/limit_message.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

namespace {

constexpr int64_t kStackReserveBytes = 48 << 10;

Coroutine* TakeCoroutine(Interpreter& interp) {
  RuntimeState& s = interp.state();
  if (s.suspended_generators >= interp.limits().suspended_generators) {
    (void)interp.LimitReached(
        LimitMessage("the program", interp.limits().suspended_generators, "unfinished generators"));
    return nullptr;
  }
  ++s.suspended_generators;
  if (!s.idle_coroutines.empty()) {
    Coroutine* c = s.idle_coroutines.back();
    s.idle_coroutines.pop_back();
    return c;
  }
  std::unique_ptr<Coroutine> made = Coroutine::Create(static_cast<size_t>(interp.limits().generator_stack_bytes));
  if (made == nullptr) {
    (void)interp.LimitReached("no address space for another generator");
    return nullptr;
  }
  s.all_coroutines.push_back(std::move(made));
  return s.all_coroutines.back().get();
}

// Returns the next item of a generator expression; Unbound at the end.
Result<Value> NextOfExpression(Interpreter& interp, GeneratorState* g) {
  const auto& clauses = g->expression->generators;
  Frame& frame = g->frame;
  while (true) {
    COBRA_TRY(interp.Step());
    size_t i = g->open - 1;
    frame.position = &clauses[i]->iter->pos;
    COBRA_TRY_ASSIGN(Value item, interp.Next(g->iterators[i]));
    if (item.IsUnbound()) {
      if (--g->open == 0) return item;
      continue;
    }
    COBRA_TRY(Assign(interp, frame, clauses[i]->target, item));
    bool pass = true;
    for (const ast::ExprNode* test : clauses[i]->ifs) {
      COBRA_TRY_ASSIGN(Value v, Eval(interp, frame, test));
      COBRA_TRY_ASSIGN(pass, interp.Truth(v));
      if (!pass) break;
    }
    if (!pass) continue;
    if (g->open == clauses.size()) return Eval(interp, frame, g->expression->elt);
    COBRA_TRY_ASSIGN(Value inner, Eval(interp, frame, clauses[g->open]->iter));
    COBRA_TRY_ASSIGN(g->iterators[g->open], interp.Iter(inner));
    ++g->open;
  }
}

Result<Value> ResumeExpression(Interpreter& interp, GeneratorState* g) {
  RuntimeState& s = interp.state();
  COBRA_TRY(interp.CheckStack());
  g->status = GeneratorState::Status::kRunning;
  g->frame.back = s.frame;
  s.frame = &g->frame;
  Result<Value> item = NextOfExpression(interp, g);
  if (!item.ok()) AddTraceback(interp, g->frame);
  s.frame = g->frame.back;
  bool more = item.ok() && !item->IsUnbound();
  g->status = more ? GeneratorState::Status::kSuspended : GeneratorState::Status::kFinished;
  return item;
}

void RunBody(Interpreter& interp, GeneratorState* g) {
  Frame& frame = g->frame;
  InitCells(interp, frame);
  Completion c = ExecBlock(interp, frame, frame.scope->body);
  g->failed = c == Completion::kError;
  g->transfer = c == Completion::kReturn ? frame.result : Value::None();
  if (g->failed) AddTraceback(interp, frame);
  g->status = GeneratorState::Status::kFinished;
}

// Replaces a StopIteration that leaves a generator's body: it would look like the normal end of the
// generator.
Failure EscapedStop(Interpreter& interp, GeneratorObject* object) {
  const BuiltinTypes& t = interp.types();
  Value stop;
  bool is_async = object->cls == t.async_generator;
  if (!interp.CatchException(t.StopIteration, &stop) &&
      !(is_async && interp.CatchException(t.StopAsyncIteration, &stop)))
    return Failure();
  absl::string_view what = is_async ? "async generator" : object->cls == t.coroutine ? "coroutine" : "generator";
  Value error = interp.NewException(t.RuntimeError, absl::StrCat(what, " raised ", stop.object()->cls->name->view()));
  auto* e = error.as<ExceptionObject>();
  e->cause = e->context = stop;
  e->suppress_context = true;
  return interp.RaiseValue(error);
}

Result<Value> Switch(Interpreter& interp, GeneratorObject* object, Value* returned) {
  GeneratorState* g = object->state;
  RuntimeState& s = interp.state();
  if (s.call_depth >= interp.limits().call_depth || StackPointer() < interp.stack_low()) {
    return interp.Raise(interp.types().RecursionError, "maximum recursion depth exceeded");
  }
  if (g->status == GeneratorState::Status::kCreated) {
    g->coroutine = TakeCoroutine(interp);
    if (g->coroutine == nullptr) return Failure();
    g->coroutine->Start([&interp, g] { RunBody(interp, g); });
  }
  g->status = GeneratorState::Status::kRunning;
  g->frame.back = s.frame;
  Value outer_handled = s.handled_exception;
  const char* outer_stack_low = interp.stack_low();
  if (!g->handled_exception.IsNone()) s.handled_exception = g->handled_exception;
  s.frame = &g->frame;
  interp.set_stack_low(g->coroutine->stack_low() + kStackReserveBytes);
  ++s.call_depth;
  g->coroutine->Resume();
  --s.call_depth;
  interp.set_stack_low(outer_stack_low);
  s.frame = g->frame.back;
  g->handled_exception = s.handled_exception.IsSame(outer_handled) ? Value::None() : s.handled_exception;
  s.handled_exception = outer_handled;
  if (g->status != GeneratorState::Status::kFinished) return g->transfer;
  s.idle_coroutines.push_back(g->coroutine);
  g->coroutine = nullptr;
  --s.suspended_generators;
  if (g->failed) {
    return EscapedStop(interp, object);
  }
  if (returned != nullptr) *returned = g->transfer;
  return Value::Unbound();
}

GeneratorObject* NewGenerator(Interpreter& interp, StrObject* name, StrObject* qualname) {
  GeneratorObject* object = interp.heap().New<GeneratorObject>();
  object->cls = interp.types().generator;
  object->name = name;
  object->qualname = qualname;
  object->state = interp.heap().New<GeneratorState>();
  object->state->frame.generator = object;
  return object;
}

// Called in the body of `frame`'s generator: yields `value`, suspends, and returns the value that
// was sent.
Result<Value> YieldValue(Interpreter& interp, Frame& frame, Value value) {
  GeneratorState* g = frame.generator->state;
  g->transfer = value;
  g->status = GeneratorState::Status::kSuspended;
  g->coroutine->Suspend();
  if (interp.HasError()) return Failure();  // the interpreter is being destroyed: unwind
  if (!g->thrown.IsUnbound()) {
    Value e = g->thrown;
    g->thrown = Value::Unbound();
    return interp.RaiseValue(e);
  }
  return g->transfer;
}

Value StopIterationValue(Value exception) {
  auto span = exception.as<ExceptionObject>()->args.as<TupleObject>()->span();
  return span.empty() ? Value::None() : span[0];
}

// Passes an exception that was thrown into the generator to the throw() of `inner`, an iterator
// that is not a generator. Returns true with the yielded value in *item, or false with the return
// value in *returned.
Result<bool> ThrowIntoIterator(Interpreter& interp, Value inner, Value exception, Value* item, Value* returned) {
  COBRA_TRY_ASSIGN(Value method, interp.GetAttrOrUnbound(inner, interp.names().throw_));
  if (method.IsUnbound()) return interp.RaiseValue(exception);
  Result<Value> got = interp.Call(method, {Value(exception.object()->cls), exception, Value::None()});
  if (got.ok()) {
    *item = *got;
    return true;
  }
  Value stop;
  if (!interp.CatchException(interp.types().StopIteration, &stop)) return Failure();
  *returned = StopIterationValue(stop);
  return false;
}

Result<void> CloseInner(Interpreter& interp, Value inner) {
  COBRA_TRY_ASSIGN(Value method, interp.GetAttrOrUnbound(inner, interp.names().close));
  if (!method.IsUnbound()) COBRA_TRY(interp.Call(method, {}));
  return {};
}

}  // namespace

// Delegates to `inner`, which receives the values that are sent and the exceptions that are thrown.
Result<Value> DelegateTo(Interpreter& interp, Frame& frame, Value inner) {
  Value sent;
  while (true) {
    COBRA_TRY(interp.Step());
    Value item, returned;
    if (inner.IsGenerator()) {
      COBRA_TRY_ASSIGN(item, ResumeGenerator(interp, inner.as<GeneratorObject>(), sent, &returned));
    } else {
      Result<Value> next = sent.IsNone() ? interp.CallSpecial(inner, interp.names().__next__, {})
                                         : interp.CallMethod(inner, interp.names().send, absl::MakeConstSpan(&sent, 1));
      if (!next.ok()) {
        Value stop;
        if (!interp.CatchException(interp.types().StopIteration, &stop)) return Failure();
        return StopIterationValue(stop);
      }
      item = *next;
    }
    if (item.IsUnbound()) return returned;
    Result<Value> received = YieldValue(interp, frame, item);
    while (!received.ok()) {
      Value e;
      if (!interp.CatchException(interp.types().BaseException, &e)) return Failure();
      if (Interpreter::IsSubclassOf(e.object()->cls, interp.types().GeneratorExit)) {
        COBRA_TRY(CloseInner(interp, inner));
        return interp.RaiseValue(e);
      }
      if (inner.IsGenerator()) {
        COBRA_TRY_ASSIGN(item, ThrowIntoGenerator(interp, inner.as<GeneratorObject>(), e, &returned));
        if (item.IsUnbound()) return returned;
      } else {
        COBRA_TRY_ASSIGN(bool more, ThrowIntoIterator(interp, inner, e, &item, &returned));
        if (!more) return returned;
      }
      received = YieldValue(interp, frame, item);
    }
    sent = *received;
  }
}

Result<Value> MakeGenerator(Interpreter& interp, FunctionObject* function, const Frame& prototype) {
  GeneratorObject* object = NewGenerator(interp, function->name, function->qualname);
  if (function->scope->is_async)
    object->cls = function->scope->is_generator ? interp.types().async_generator : interp.types().coroutine;
  object->state->frame = prototype;
  object->state->frame.generator = object;
  object->state->frame.position = &function->scope->pos;
  return Value(object);
}

Result<Value> MakeGeneratorExpression(Interpreter& interp, Frame& frame, const ast::GeneratorExp* e) {
  COBRA_TRY_ASSIGN(Value first, Eval(interp, frame, e->generators[0]->iter));
  frame.position = &e->generators[0]->iter->pos;
  for (const ast::Comprehension* c : e->generators) {
    if (c->is_async) return interp.Unsupported("async generator expression");
  }
  const ScopeInfo& scope = frame.unit->code->scope(e->node_id);
  GeneratorObject* object =
      NewGenerator(interp, interp.Intern("<genexpr>"), interp.Intern(absl::StrCat(scope.qualname_prefix, "<genexpr>")));
  GeneratorState* g = object->state;
  g->expression = e;
  g->frame.unit = frame.unit;
  g->frame.scope = &scope;
  g->frame.module = frame.module;
  g->frame.globals = frame.globals;
  g->frame.free = MakeClosure(interp, frame, scope);
  g->frame.locals =
      static_cast<Value*>(interp.heap().Allocate(static_cast<size_t>(scope.slot_count + 1) * sizeof(Value)));
  for (int i = 0; i < scope.slot_count; ++i) g->frame.locals[i] = Value::Unbound();
  InitCells(interp, g->frame);
  g->iterators = static_cast<Value*>(interp.heap().Allocate(e->generators.size() * sizeof(Value)));
  COBRA_TRY_ASSIGN(g->iterators[0], interp.Iter(first));
  g->open = 1;
  return Value(object);
}

Result<Value> EvalYield(Interpreter& interp, Frame& frame, const ast::ExprNode* e) {
  if (frame.generator == nullptr || frame.generator->state->coroutine == nullptr) {
    return interp.Raise(interp.types().SyntaxError, "'yield' outside function");
  }
  if (const auto* from = e->AsOrNull<ast::YieldFrom>()) {
    COBRA_TRY_ASSIGN(Value iterable, Eval(interp, frame, from->value));
    frame.position = &e->pos;
    COBRA_TRY_ASSIGN(Value inner, interp.Iter(iterable));
    return DelegateTo(interp, frame, inner);
  }
  Value value;
  if (e->As<ast::Yield>()->value != nullptr) COBRA_TRY_SET(value, Eval(interp, frame, e->As<ast::Yield>()->value));
  frame.position = &e->pos;
  frame.generator->state->yielded = true;
  return YieldValue(interp, frame, value);
}

Result<Value> ResumeGenerator(Interpreter& interp, GeneratorObject* object, Value sent, Value* returned) {
  GeneratorState* g = object->state;
  COBRA_TRY(interp.Step());
  if (returned != nullptr) *returned = Value::None();
  switch (g->status) {
    case GeneratorState::Status::kRunning:
      return interp.Raise(interp.types().ValueError, "generator already executing");
    case GeneratorState::Status::kFinished: return Value::Unbound();
    case GeneratorState::Status::kCreated:
      if (!sent.IsNone())
        return interp.Raise(interp.types().TypeError, "can't send non-None value to a just-started generator");
      break;
    case GeneratorState::Status::kSuspended: break;
  }
  if (g->expression != nullptr) return ResumeExpression(interp, g);
  g->transfer = sent;
  return Switch(interp, object, returned);
}

Result<Value> ThrowIntoGenerator(Interpreter& interp, GeneratorObject* object, Value exception, Value* returned) {
  GeneratorState* g = object->state;
  if (g->status == GeneratorState::Status::kRunning)
    return interp.Raise(interp.types().ValueError, "generator already executing");
  if (g->status != GeneratorState::Status::kSuspended || g->expression != nullptr) {
    const bool was_finished = g->status == GeneratorState::Status::kFinished;
    g->status = GeneratorState::Status::kFinished;
    (void)interp.RaiseValue(exception);
    return was_finished ? Failure() : EscapedStop(interp, object);
  }
  g->thrown = exception;
  return Switch(interp, object, returned);
}

Failure RaiseStopIteration(Interpreter& interp, Value returned) {
  ExceptionObject* e = NewException(interp, interp.types().StopIteration, returned.IsNone() ? 0 : 1, &returned);
  return interp.RaiseValue(e);
}

Result<Value> ThrownException(Interpreter& interp, const CallArgs& args) {
  Value type, value, traceback;
  ArgReader reader(interp, "throw", args);
  COBRA_TRY(reader.Required("type", &type).Optional("value", &value).Optional("traceback", &traceback).Finish());
  Value exception = type;
  if (type.IsClass()) {
    if (value.IsException()) {
      exception = value;
    } else if (value.IsNone()) {
      COBRA_TRY_ASSIGN(exception, interp.Call(type, {}));
    } else {
      COBRA_TRY_ASSIGN(exception, interp.Call(type, {value}));
    }
  }
  if (!exception.IsException()) {
    return interp.Raise(interp.types().TypeError,
                        "exceptions must be classes or instances deriving from BaseException");
  }
  return exception;
}

namespace {

Result<Value> GeneratorSend(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value sent, OnlyArgument(interp, "send", "value", args));
  Value returned;
  COBRA_TRY_ASSIGN(Value item, ResumeGenerator(interp, args.self.as<GeneratorObject>(), sent, &returned));
  if (item.IsUnbound()) return RaiseStopIteration(interp, returned);
  return item;
}

Result<Value> GeneratorNext(Interpreter& interp, const CallArgs& args) {
  Value returned;
  COBRA_TRY_ASSIGN(Value item, ResumeGenerator(interp, args.self.as<GeneratorObject>(), Value::None(), &returned));
  if (item.IsUnbound()) return RaiseStopIteration(interp, returned);
  return item;
}

Result<Value> GeneratorThrow(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value exception, ThrownException(interp, args));
  Value returned;
  COBRA_TRY_ASSIGN(Value item, ThrowIntoGenerator(interp, args.self.as<GeneratorObject>(), exception, &returned));
  if (item.IsUnbound()) return RaiseStopIteration(interp, returned);
  return item;
}

Result<Value> GeneratorClose(Interpreter& interp, const CallArgs& args) {
  auto* object = args.self.as<GeneratorObject>();
  if (object->state->status != GeneratorState::Status::kSuspended) {
    if (object->state->status == GeneratorState::Status::kCreated)
      object->state->status = GeneratorState::Status::kFinished;
    return Value::None();
  }
  Result<Value> item =
      ThrowIntoGenerator(interp, object, interp.NewException(interp.types().GeneratorExit, ""), nullptr);
  if (!item.ok()) {
    if (interp.CatchException(interp.types().GeneratorExit) || interp.CatchException(interp.types().StopIteration))
      return Value::None();
    return Failure();
  }
  if (item->IsUnbound()) return Value::None();
  return interp.Raise(interp.types().RuntimeError, "generator ignored GeneratorExit");
}

}  // namespace

void AddGeneratorMethods(Interpreter& interp, ClassObject* cls, absl::string_view prefix) {
  if (cls != interp.types().async_generator) {
    AddMethod(interp, cls, "send", GeneratorSend);
    AddMethod(interp, cls, "throw", GeneratorThrow);
    AddMethod(interp, cls, "close", GeneratorClose);
  }
  AddProperty(interp, cls, "__name__", [](Interpreter&, const CallArgs& args) -> Result<Value> {
    return Value(args.self.as<GeneratorObject>()->name);
  });
  AddProperty(interp, cls, "__qualname__", [](Interpreter&, const CallArgs& args) -> Result<Value> {
    return Value(args.self.as<GeneratorObject>()->qualname);
  });
  AddProperty(interp, cls, absl::StrCat(prefix, "_running"), [](Interpreter&, const CallArgs& args) -> Result<Value> {
    return Value::Bool(args.self.as<GeneratorObject>()->state->status == GeneratorState::Status::kRunning);
  });
}

void InitGeneratorType(Interpreter& interp) {
  ClassObject* cls = interp.types().generator;
  AddMethod(interp, cls, "__iter__", [](Interpreter&, const CallArgs& args) -> Result<Value> { return args.self; });
  AddMethod(interp, cls, "__next__", GeneratorNext);
  AddGeneratorMethods(interp, cls, "gi");
}

}  // namespace cobra::python
