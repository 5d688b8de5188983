#include "worker/run/runner_command.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file/data_path.h"
#include "base/file/file.h"

namespace cobra::worker {
namespace {

struct OwnRunner {
  const char* name;
  const char* file;
  const char* argument;
};
constexpr OwnRunner kOwn[] = {{"torch", "eager_torch.py", ""},
                              {"torch-compile", "eager_torch.py", "--compile"},
                              {"onnxruntime", "onnx_runtime.py", ""},
                              {"openvino", "open_vino.py", ""},
                              {"ncnn", "ncnn_runner.py", ""}};

std::string Python() {
  const char* given = std::getenv("COBRA_RUNNER_PYTHON");
  if (given != nullptr && *given != 0) return given;
  const std::string runtimes = DataPath("build/runtimes");
  return FileExists(runtimes + "/requirements.txt") ? runtimes + "/bin/python3" : "python3";
}

}  // namespace

absl::StatusOr<std::vector<std::string>> RunnerCommand(absl::string_view runner) {
  for (const OwnRunner& own : kOwn) {
    if (runner != own.name) continue;
    const std::string script = DataPath(absl::StrCat("worker/runners/", own.file));
    if (!FileExists(script)) {
      return absl::NotFoundError(absl::StrCat("--runner ", runner, ": ", script,
                                              " is neither installed with this program nor where it was built: give "
                                              "the command, --runner 'python3 .../worker/runners/",
                                              own.file, "'"));
    }
    std::vector<std::string> command = {Python(), script};
    if (*own.argument != 0) command.emplace_back(own.argument);
    return command;
  }
  std::vector<std::string> words = absl::StrSplit(runner, ' ', absl::SkipEmpty());
  if (words.empty() && !runner.empty()) return absl::InvalidArgumentError("--runner: no command");
  return words;
}

}  // namespace cobra::worker
