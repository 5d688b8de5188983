// async def. A coroutine is a generator object of another class: awaiting is delegating to it, as
// `yield from` does. An asynchronous generator suspends for two reasons; GeneratorState::yielded
// tells which. There is no event loop: the caller of send() drives the coroutine.
#include "frontend/python/runtime/eval/generator.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {
namespace {

// The awaitable that __anext__, asend, athrow and aclose return. It runs the generator to its next
// yield.
class Advance : public NativeObject {
 public:
  enum class Mode : uint8_t { kSend, kThrow, kClose };
  GeneratorObject* generator = nullptr;
  Mode mode = Mode::kSend;
  Value argument;
  bool started = false, finished = false;
};

Result<Value> MakeAdvance(Interpreter& interp, Value generator, Advance::Mode mode, Value argument) {
  auto* a = interp.heap().New<Advance>();
  a->generator = generator.as<GeneratorObject>();
  a->mode = mode;
  a->argument = argument;
  return Value(interp.NewInstance(interp.types().async_generator_asend, a));
}

Result<Value> EndOfGenerator(Interpreter& interp, const Advance& a) {
  if (a.mode == Advance::Mode::kClose) return RaiseStopIteration(interp, Value::None());
  return interp.RaiseValue(NewException(interp, interp.types().StopAsyncIteration, 0, nullptr));
}

Result<Value> Continue(Interpreter& interp, Advance* a, Value sent, Value thrown) {
  if (a->finished) return interp.Raise(interp.types().RuntimeError, "cannot reuse already awaited __anext__()/asend()");
  GeneratorState* g = a->generator->state;
  if (!a->started) {
    a->started = true;
    if (a->mode == Advance::Mode::kSend && sent.IsNone()) sent = a->argument;
    if (a->mode != Advance::Mode::kSend && thrown.IsUnbound()) thrown = a->argument;
    if (a->mode == Advance::Mode::kClose && g->status != GeneratorState::Status::kSuspended) {
      g->status = GeneratorState::Status::kFinished;
      a->finished = true;
      return EndOfGenerator(interp, *a);
    }
  }
  g->yielded = false;
  Result<Value> item = thrown.IsUnbound() ? ResumeGenerator(interp, a->generator, sent, nullptr)
                                          : ThrowIntoGenerator(interp, a->generator, thrown, nullptr);
  if (!item.ok()) {
    a->finished = true;
    bool closed = a->mode == Advance::Mode::kClose && (interp.CatchException(interp.types().GeneratorExit) ||
                                                       interp.CatchException(interp.types().StopAsyncIteration));
    return closed ? EndOfGenerator(interp, *a) : Result<Value>(Failure());
  }
  if (item->IsUnbound()) {
    a->finished = true;
    return EndOfGenerator(interp, *a);
  }
  if (!g->yielded) return item;
  a->finished = true;
  if (a->mode == Advance::Mode::kClose)
    return interp.Raise(interp.types().RuntimeError, "async generator ignored GeneratorExit");
  return interp.RaiseValue(NewException(interp, interp.types().StopIteration, 1, &*item));
}

Advance* Self(const CallArgs& args) { return NativeCast<Advance>(args.self); }

// The iterator that `await v` runs.
Result<Value> AwaitIterator(Interpreter& interp, Value v) {
  if (v.IsGenerator() && v.object()->cls == interp.types().coroutine) return v;
  COBRA_TRY_ASSIGN(Value iterator, interp.CallSpecial(v, interp.names().__await__, {}));
  if (iterator.IsUnbound()) {
    return interp.Raise(interp.types().TypeError, "object ", interp.TypeName(v),
                        " can't be used in 'await' expression");
  }
  return iterator;
}

void InitAdvance(Interpreter& interp) {
  ClassObject* cls = interp.types().async_generator_asend;
  for (absl::string_view name : {"__await__", "__iter__"}) {
    AddMethod(interp, cls, name, [](Interpreter&, const CallArgs& args) -> Result<Value> { return args.self; });
  }
  AddMethod(interp, cls, "__next__", [](Interpreter& interp, const CallArgs& args) {
    return Continue(interp, Self(args), Value::None(), Value::Unbound());
  });
  AddMethod(interp, cls, "send", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value sent, OnlyArgument(interp, "send", "value", args));
    return Continue(interp, Self(args), sent, Value::Unbound());
  });
  AddMethod(interp, cls, "throw", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value exception, ThrownException(interp, args));
    return Continue(interp, Self(args), Value::None(), exception);
  });
  AddMethod(interp, cls, "close", [](Interpreter&, const CallArgs& args) -> Result<Value> {
    Self(args)->finished = true;
    return Value::None();
  });
}

}  // namespace

Result<Value> Await(Interpreter& interp, Frame& frame, Value awaitable) {
  COBRA_TRY_ASSIGN(Value iterator, AwaitIterator(interp, awaitable));
  return DelegateTo(interp, frame, iterator);
}

Result<void> IterateAsync(Interpreter& interp, Frame& frame, Value iterable,
                          absl::FunctionRef<Result<bool>(Value)> visit) {
  COBRA_TRY_ASSIGN(Value iterator, interp.CallSpecial(iterable, interp.names().__aiter__, {}));
  if (iterator.IsUnbound()) {
    return interp.Raise(interp.types().TypeError, "'async for' requires an object with __aiter__ method, got ",
                        interp.TypeName(iterable));
  }
  while (true) {
    COBRA_TRY(interp.Step());
    COBRA_TRY_ASSIGN(Value awaitable, interp.CallSpecial(iterator, interp.names().__anext__, {}));
    if (awaitable.IsUnbound()) {
      return interp.Raise(interp.types().TypeError,
                          "'async for' received an object from __aiter__ that does not implement __anext__: ",
                          interp.TypeName(iterator));
    }
    Result<Value> item = Await(interp, frame, awaitable);
    if (!item.ok()) {
      if (interp.CatchException(interp.types().StopAsyncIteration)) return {};
      return Failure();
    }
    COBRA_TRY_ASSIGN(bool more, visit(*item));
    if (!more) return {};
  }
}

Completion ExecAsyncFor(Interpreter& interp, Frame& frame, const ast::AsyncFor* s) {
  COBRA_EXEC_ASSIGN(Value iterable, Eval(interp, frame, s->iter));
  frame.position = &s->iter->pos;
  Completion end = Completion::kNormal;
  COBRA_EXEC(IterateAsync(interp, frame, iterable, [&](Value item) -> Result<bool> {
    COBRA_TRY(Assign(interp, frame, s->target, item));
    Completion c = ExecBlock(interp, frame, s->body);
    if (c == Completion::kError) return Failure();
    if (c == Completion::kBreak || c == Completion::kReturn) {
      end = c;
      return false;
    }
    return true;
  }));
  if (end == Completion::kReturn) return end;
  if (end == Completion::kBreak) return Completion::kNormal;
  return ExecBlock(interp, frame, s->orelse);
}

void InitAsyncTypes(Interpreter& interp) {
  ClassObject* coroutine = interp.types().coroutine;
  AddGeneratorMethods(interp, coroutine, "cr");
  AddMethod(interp, coroutine, "__await__",
            [](Interpreter&, const CallArgs& args) -> Result<Value> { return args.self; });
  ClassObject* generator = interp.types().async_generator;
  AddGeneratorMethods(interp, generator, "ag");
  AddMethod(interp, generator, "__aiter__",
            [](Interpreter&, const CallArgs& args) -> Result<Value> { return args.self; });
  AddMethod(interp, generator, "__anext__", [](Interpreter& interp, const CallArgs& args) {
    return MakeAdvance(interp, args.self, Advance::Mode::kSend, Value::None());
  });
  AddMethod(interp, generator, "asend", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value sent, OnlyArgument(interp, "asend", "value", args));
    return MakeAdvance(interp, args.self, Advance::Mode::kSend, sent);
  });
  AddMethod(interp, generator, "athrow", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value exception, ThrownException(interp, args));
    return MakeAdvance(interp, args.self, Advance::Mode::kThrow, exception);
  });
  AddMethod(interp, generator, "aclose", [](Interpreter& interp, const CallArgs& args) {
    return MakeAdvance(interp, args.self, Advance::Mode::kClose, interp.NewException(interp.types().GeneratorExit, ""));
  });
  InitAdvance(interp);
}

}  // namespace cobra::python
