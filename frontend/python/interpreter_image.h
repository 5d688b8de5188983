// An interpreter that has imported what programs begin with: torch, the standard library, and
// modules of libraries. It is frozen, and then serves requests: one after the other in one process
// (interpreter_pool.h), or one in each process that is forked from the one that made it (reader/).
#ifndef COBRA_FRONTEND_PYTHON_INTERPRETER_IMAGE_H_
#define COBRA_FRONTEND_PYTHON_INTERPRETER_IMAGE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/limits.h"
#include "frontend/python/reader.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/interpreter.h"
#include "frontend/python/torch/library.h"
#include "frontend/python/torch/tensor/tensor.h"

namespace cobra::python {

using ImportList = std::vector<Importer::Needed>;
using Libraries = std::vector<std::shared_ptr<const FileSource>>;

// Where a request on this machine may import from.
Libraries LibrariesOf(const SourceRequest& request);

// The modules that COBRA itself contains.
const NativeRegistry& AllNatives();

// An interpreter and its torch state.
struct Machine {
  std::optional<TorchState> torch;
  std::unique_ptr<Interpreter> interpreter;
};

// A fresh interpreter, without an image.
absl::StatusOr<std::unique_ptr<Machine>> NewMachine(Libraries libraries, const std::string& torch_version,
                                                    std::map<std::string, std::string> bundle, const Limits& limits);

class InterpreterImage {
 public:
  // Null if the imports fail (a request will say how) or the system cannot freeze a heap.
  static std::unique_ptr<InterpreterImage> Create(Libraries libraries, const std::string& torch_version,
                                                  const ImportList& imports, const Limits& limits);

  // Whether a request may use this image: it wants the same torch version, no file of its bundle
  // changes the result of an import in the image, and the imports have not used up its steps.
  bool IsUsable(const SourceRequest& request, const Limits& limits) const;
  // The machine, ready for the request. REQUIRES: IsUsable, and Rollback() since the last request.
  Machine& Start(const SourceRequest& request, const Limits& limits);
  // Undoes what the request did. False: it cannot be undone, and the image must be destroyed.
  bool Rollback();

  bool FilesUnchanged() const { return machine_->interpreter->importer().FilesUnchanged(); }
  const Heap& heap() const { return machine_->interpreter->heap(); }

 private:
  InterpreterImage(std::unique_ptr<Machine> machine, std::string torch_version);

  std::unique_ptr<Machine> machine_;
  const std::string torch_version_;
  TorchLibrary library_;  // as it was when the image was made
};

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_INTERPRETER_IMAGE_H_
