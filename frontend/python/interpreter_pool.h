// Interpreters for requests. Most of a request's work would be importing: one model file of a
// library imports a hundred others. So a process keeps frozen interpreters (images) that have
// executed the imports that requests begin with. A request leases one and runs; afterwards all of
// its changes are rolled back.
//
// A program cannot distinguish an image from a fresh interpreter. It contains:
//   - torch and the standard library;
//   - the library modules that the request's own file imports before any other statement (later it
//     may have changed a library, and a module imported then could see that);
//   - after the same request was seen once: the imports of library files that it needed later
//     (import.h). A library could notice that they come early: the first result from such an image
//     is compared with the one before.
// An image serves requests with the same roots, torch version and list of imports. The first
// request of a kind runs in a fresh interpreter and the second creates the image, so that a process
// that reads only one model creates none.
#ifndef COBRA_FRONTEND_PYTHON_INTERPRETER_POOL_H_
#define COBRA_FRONTEND_PYTHON_INTERPRETER_POOL_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "base/bytes/hash.h"
#include "frontend/python/interpreter_image.h"
#include "frontend/python/reader.h"

namespace cobra::python {

// An interpreter and its torch state for one request. Destroying it returns it to the pool, if it
// came from there.
class InterpreterLease {
 public:
  virtual ~InterpreterLease() = default;
  virtual Machine& machine() = 0;
  virtual bool warm() const = 0;  // from an image
  // Whether the result can be trusted. If not, the request is to be read again on another lease.
  // Called once at most, when the request is read; whoever does not call it teaches the pool
  // nothing. `outcome`: a hash of the result.
  virtual bool Trusts(absl::FunctionRef<Hash128()> outcome) = 0;
};

absl::StatusOr<std::unique_ptr<InterpreterLease>> LeaseInterpreter(const SourceRequest& request, const Limits& limits);

// Whether COBRA itself contains the module or its package: torch.nn, einops, math.
bool IsBuiltInModule(absl::string_view name);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_INTERPRETER_POOL_H_
