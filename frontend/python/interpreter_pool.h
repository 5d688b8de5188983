// Interpreters for requests. Most of a request's work would be importing: one model file of a library pulls in a hundred others.
// So a process keeps interpreters that have imported what requests begin with, frozen (runtime/image.h): a request takes one, runs,
// and leaves no trace in it.
//
// What an image holds is chosen so that a program cannot tell it from a fresh interpreter:
//   - torch and the standard library;
//   - the library modules that the request's own file imports before it runs any other statement (afterwards it may have
//     changed a library, and a module imported then could see that);
//   - once the very same request was seen: what it needed of the imports that library files put off (import.h), which Python
//     itself would have loaded at once.
// An image serves requests with the same roots, torch version and list of imports. The first request of a kind runs in a fresh
// interpreter; the second makes the image, so that a process that reads one model pays for none.
#ifndef COBRA_FRONTEND_PYTHON_INTERPRETER_POOL_H_
#define COBRA_FRONTEND_PYTHON_INTERPRETER_POOL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "frontend/python/reader.h"
#include "frontend/python/runtime/interpreter.h"
#include "frontend/python/torch/tensor.h"

namespace cobra::python {

// An interpreter and its torch state for one request. Destroying it gives it back to the pool, if it came from there.
class InterpreterLease {
 public:
  virtual ~InterpreterLease() = default;
  virtual Interpreter& interpreter() = 0;
  virtual TorchState& torch() = 0;
  virtual bool warm() const = 0;  // from an image
};

absl::StatusOr<std::unique_ptr<InterpreterLease>> LeaseInterpreter(const SourceRequest& request, const Limits& limits);

// Whether COBRA has the module, or the package that it is in, itself: torch.nn, einops, math.
bool IsBuiltInModule(absl::string_view name);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_INTERPRETER_POOL_H_
