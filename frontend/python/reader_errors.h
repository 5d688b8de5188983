// The error message when a model cannot be read. Its kind and hint depend on the phase in which the
// reading failed.
#ifndef COBRA_FRONTEND_PYTHON_READER_ERRORS_H_
#define COBRA_FRONTEND_PYTHON_READER_ERRORS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "frontend/python/example_inputs.h"
#include "frontend/python/reader.h"
#include "frontend/python/runtime/heap/object.h"

namespace cobra::python {

struct ReadProgress {
  enum class Phase { kLoad, kEntry, kArguments, kRun };
  Phase phase = Phase::kLoad;
  std::string candidates;                    // after a failed entry: the models of the file, "Net(), Block(width)"
  std::string signature;                     // of the method: "forward(self, x, mask=...)"
  std::string called_function;               // if the entry is a function, a call of it: "net(width)"
  const std::string* module_path = nullptr;  // of the module that was running at the failure
  ExampleInputs example;                     // that the file proposes, if the request gives no input
  std::vector<std::string> put_aside;        // modules that could not be imported here, and nothing has needed
  bool in_arguments = false;                 // the method does not accept the arguments
  bool may_be_input = false;                 // the exception may come from shapes or types of the inputs
};

// Records where and how the run failed, while the failure is pending.
void NoteFailure(Interpreter& interp, ReadProgress* progress);

// Adds the module path and a hint for this phase to the status, and sets kind kUsage if the request
// is wrong and not the model.
absl::Status ExplainFailure(const absl::Status& status, const SourceRequest& request, const ReadProgress& progress);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_READER_ERRORS_H_
