// The state of a suspended generator, coroutine or asynchronous generator. For generator.cc and
// async.cc.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_EVAL_GENERATOR_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_EVAL_GENERATOR_H_

#include "frontend/python/runtime/heap/coroutine.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

struct GeneratorState {
  enum class Status : uint8_t { kCreated, kSuspended, kRunning, kFinished };
  Status status = Status::kCreated;
  Frame frame;
  // A def with yield, an async def:
  Coroutine* coroutine = nullptr;
  Value transfer;                   // what goes in (send) and comes out (yield)
  Value thrown = Value::Unbound();  // exception to raise at the yield
  bool failed = false;              // the body ended with an error, which is pending
  bool yielded = false;             // of an asynchronous generator: it stopped at a yield, not inside an await
  Value handled_exception;          // of the body, while suspended
  const char* outer_stack_low = nullptr;
  // A generator expression:
  const ast::GeneratorExp* expression = nullptr;
  Value* iterators = nullptr;
  size_t open = 0;  // how many of them are running
};

// The exception for the arguments of throw(): an exception, or a class and its arguments.
Result<Value> ThrownException(Interpreter& interp, const CallArgs& args);
// Raises the exception of a generator that ends with `returned`.
Failure RaiseStopIteration(Interpreter& interp, Value returned);
// send, throw, close and the attributes whose names begin with `prefix` (gi, cr, ag).
void AddGeneratorMethods(Interpreter& interp, ClassObject* cls, absl::string_view prefix);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_EVAL_GENERATOR_H_
