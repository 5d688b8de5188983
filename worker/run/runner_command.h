// What --runner names: one of our runners, or a command.
#ifndef COBRA_WORKER_RUN_RUNNER_COMMAND_H_
#define COBRA_WORKER_RUN_RUNNER_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::worker {

// "torch", "torch-compile", "onnxruntime", "openvino" and "ncnn" are our runners in worker/runners,
// run by the Python that COBRA_RUNNER_PYTHON names, that of build/runtimes (scripts/setup.sh
// --runtimes), or python3. Anything else is a command and its arguments. Empty: LibTorch in this
// process. NotFound: ours are not on this machine. FailedPrecondition: there is no such Python, or
// it lacks the runtime. InvalidArgument: nothing but blanks.
absl::StatusOr<std::vector<std::string>> RunnerCommand(absl::string_view runner);
// Whether it is one of ours.
bool IsOwnRunner(absl::string_view runner);

// A runtime of our runners, in the Python that would run it.
struct OwnRuntime {
  std::string name;     // "torch"
  std::string version;  // "2.13.0"; "" if the Python does not say
  std::string missing;  // "" if it is there; otherwise what is missing, and what to do
};
// "python3", as RunnerCommand() takes it.
std::string RunnerPython();
// Nothing is imported: some tens of milliseconds.
std::vector<OwnRuntime> OwnRuntimes();

}  // namespace cobra::worker

#endif  // COBRA_WORKER_RUN_RUNNER_COMMAND_H_
