// What a user is told when a model cannot be read: whose mistake it is, and what to do, depends on how far the reading
// came.
#ifndef COBRA_FRONTEND_PYTHON_READER_ERRORS_H_
#define COBRA_FRONTEND_PYTHON_READER_ERRORS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "frontend/python/reader.h"
#include "frontend/python/runtime/object.h"

namespace cobra::python {

struct ReadProgress {
  enum class Phase { kLoad, kEntry, kArguments, kRun };
  Phase phase = Phase::kLoad;
  std::string candidates;                    // of a failed entry: the models that the file has, "Net(), Block(width)"
  std::string signature;                     // of the method: "forward(self, x, mask=...)"
  std::string called_function;               // the entry is a function, and how it is called: "net(width)"
  const std::string* module_path = nullptr;  // of the module that was running when it failed
  bool in_arguments = false;                 // the method did not take its arguments
  bool may_be_input = false;                 // an exception of the kinds that shapes and types of the inputs lead to
};

// Where and how the run failed, while the failure is pending.
void NoteFailure(Interpreter& interp, ReadProgress* progress);

// The status with the module path, a hint that is true at this stage, and kind kUsage where the request is wrong and
// not the model.
absl::Status ExplainFailure(const absl::Status& status, const SourceRequest& request, const ReadProgress& progress);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_READER_ERRORS_H_
