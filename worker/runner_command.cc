#include "worker/runner_command.h"

#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace cobra::worker {
namespace {

namespace fs = std::filesystem;

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

// The top folder of the source tree that this program was built in, or an empty path.
fs::path SourceFolder() {
  std::error_code error;
  fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (int up = 0; !error && up < 4 && folder.has_relative_path(); ++up, folder = folder.parent_path()) {
    if (fs::exists(folder / "worker" / "runners" / "runner_loop.py", error)) return folder;
  }
  return {};
}

std::string Python(const fs::path& source) {
  const char* given = std::getenv("COBRA_RUNNER_PYTHON");
  if (given != nullptr && *given != 0) return given;
  std::error_code error;
  const fs::path runtimes = source / "build" / "runtimes";
  return fs::exists(runtimes / "requirements.txt", error) ? (runtimes / "bin" / "python3").string() : "python3";
}

}  // namespace

absl::StatusOr<std::vector<std::string>> RunnerCommand(absl::string_view runner) {
  for (const OwnRunner& own : kOwn) {
    if (runner != own.name) continue;
    const fs::path source = SourceFolder();
    if (source.empty()) {
      return absl::NotFoundError(absl::StrCat("--runner ", runner,
                                              ": worker/runners is not where this program was built: give the command, "
                                              "--runner 'python3 .../worker/runners/",
                                              own.file, "'"));
    }
    std::vector<std::string> command = {Python(source), (source / "worker" / "runners" / own.file).string()};
    if (*own.argument != 0) command.emplace_back(own.argument);
    return command;
  }
  std::vector<std::string> words = absl::StrSplit(runner, ' ', absl::SkipEmpty());
  if (words.empty() && !runner.empty()) return absl::InvalidArgumentError("--runner: no command");
  return words;
}

std::string FileOfSource(const std::string& path) {
  std::error_code error;
  const fs::path source = SourceFolder();
  return fs::exists(path, error) || source.empty() ? path : (source / path).string();
}

}  // namespace cobra::worker
