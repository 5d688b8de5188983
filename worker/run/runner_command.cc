#include "worker/run/runner_command.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/file/data_path.h"
#include "base/file/file.h"
#include "base/process/subprocess.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "base/text/without_escapes.h"
#include "nlohmann/json.hpp"

namespace cobra::worker {
namespace {

using Json = nlohmann::json;

struct OwnRunner {
  const char* name;
  const char* file;
  const char* argument;
  const char* module;  // of the runtime, which has the name of its package, too
};
constexpr OwnRunner kOwn[] = {{"torch", "eager_torch.py", "", "torch"},
                              {"torch-compile", "eager_torch.py", "--compile", "torch"},
                              {"onnxruntime", "onnx_runtime.py", "", "onnxruntime"},
                              {"openvino", "open_vino.py", "", "openvino"},
                              {"ncnn", "ncnn_runner.py", "", "ncnn"}};
constexpr char kNumbers[] = "numpy";  // which all of them need

const OwnRunner* FindOwn(absl::string_view name) {
  const auto* found =
      std::find_if(std::begin(kOwn), std::end(kOwn), [&](const OwnRunner& r) { return name == r.name; });
  return found == std::end(kOwn) ? nullptr : found;
}

// For each module null if it is not there, otherwise its version, which may be unknown. The working
// folder is left out: a file there may have a module's name.
constexpr char kLook[] = R"(
import importlib.metadata, importlib.util, json, sys
sys.path.pop(0)
def version(name):
    if importlib.util.find_spec(name) is None:
        return None
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
print(json.dumps({name: version(name) for name in sys.argv[1:]}))
)";

// What `python` has of `modules`.
absl::StatusOr<Json> AskPython(const std::string& python, const std::vector<std::string>& modules) {
  std::vector<std::string> command = {python, "-c", kLook};
  command.insert(command.end(), modules.begin(), modules.end());
  SubprocessOptions options;
  options.timeout = absl::Seconds(30);
  const absl::StatusOr<std::string> text = RunProgram(command, options);
  const std::string other = "name another Python: COBRA_RUNNER_PYTHON=/path/to/python3";
  if (absl::IsNotFound(text.status()))
    return absl::FailedPreconditionError(absl::StrCat("there is no ", python, "; ", other));
  if (!text.ok()) return absl::FailedPreconditionError(absl::StrCat(text.status().message(), "; ", other));
  Json found = ParseJson<Json>(*text);
  if (found.is_object()) return found;
  return absl::FailedPreconditionError(absl::StrCat(python, ": does not say which modules it has; ", other));
}

// "" if all of it is there.
std::string Missing(const std::string& python, const Json& found, const char* module) {
  std::vector<std::string> missing;
  for (const char* name : {module, kNumbers}) {
    if (!found.contains(name) || !found[name].is_string()) missing.emplace_back(name);
  }
  if (missing.empty()) return "";
  return absl::StrCat(python, " has no module ", absl::StrJoin(missing, " and no module "), ": ", python,
                      " -m pip install ", absl::StrJoin(missing, " "),
                      ", or name a Python that has it: COBRA_RUNNER_PYTHON=/path/to/python3");
}

absl::StatusOr<std::vector<std::string>> OwnCommand(const OwnRunner& own) {
  const std::string script = DataPath(absl::StrCat("worker/runners/", own.file)), python = RunnerPython();
  if (!FileExists(script)) {
    return absl::NotFoundError(absl::StrCat("--runner ", own.name, ": ", script,
                                            " is neither installed with this program nor where it was built: give "
                                            "the command, --runner 'python3 .../worker/runners/",
                                            own.file, "'"));
  }
  const absl::StatusOr<Json> found = AskPython(python, {own.module, kNumbers});
  const std::string missing = found.ok() ? Missing(python, *found, own.module) : std::string(found.status().message());
  if (!missing.empty()) return absl::FailedPreconditionError(absl::StrCat("--runner ", own.name, ": ", missing));
  std::vector<std::string> command = {python, script};
  if (*own.argument != 0) command.emplace_back(own.argument);
  return command;
}

}  // namespace

std::string RunnerPython() {
  const char* given = std::getenv("COBRA_RUNNER_PYTHON");
  if (given != nullptr && *given != 0) return given;
  const std::string runtimes = DataPath("build/runtimes");
  return FileExists(runtimes + "/requirements.txt") ? runtimes + "/bin/python3" : "python3";
}

bool IsOwnRunner(absl::string_view runner) { return FindOwn(runner) != nullptr; }

std::vector<OwnRuntime> OwnRuntimes() {
  const std::string python = RunnerPython();
  std::vector<std::string> modules = {kNumbers};
  for (const OwnRunner& own : kOwn) modules.emplace_back(own.module);
  const absl::StatusOr<Json> found = AskPython(python, modules);
  std::vector<OwnRuntime> runtimes;
  for (const OwnRunner& own : kOwn) {
    OwnRuntime runtime{own.name, "",
                       found.ok() ? Missing(python, *found, own.module) : std::string(found.status().message())};
    if (runtime.missing.empty()) runtime.version = WithoutEscapes((*found)[own.module].get<std::string>());
    runtimes.push_back(std::move(runtime));
  }
  return runtimes;
}

absl::StatusOr<std::vector<std::string>> RunnerCommand(absl::string_view runner) {
  if (const OwnRunner* own = FindOwn(runner); own != nullptr) return OwnCommand(*own);
  std::vector<std::string> words = absl::StrSplit(runner, ' ', absl::SkipEmpty());
  if (words.empty() && !runner.empty()) return absl::InvalidArgumentError("--runner: no command");
  return words;
}

}  // namespace cobra::worker
