// What the doctor finds about programs, linear algebra and libraries.
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "base/file/data_path.h"
#include "base/file/doc_path.h"
#include "base/file/file.h"
#include "base/process/subprocess.h"
#include "base/text/json.h"
#include "client/doctor/doctor.h"
#include "client/input/library_hint.h"
#include "client/input/local_imports.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

using nlohmann::json;

// A program's output and errors together, and how it ended.
struct Ran {
  int code = -1;  // -1: it could not be started, or did not end in time
  bool timed_out = false;
  std::string text;
};
Ran Run(const std::vector<std::string>& command, absl::Duration patience) {
  SubprocessOptions options;
  options.timeout = patience;
  options.with_errors = true;
  absl::StatusOr<ProgramResult> ended = RunToEnd(command, options);
  if (ended.ok()) return {ended->exit_status, false, std::move(ended->output)};
  return {-1, absl::IsDeadlineExceeded(ended.status()), std::string(ended.status().message())};
}

std::string LastLine(absl::string_view text) {
  text = absl::StripTrailingAsciiWhitespace(text);
  return std::string(text.substr(text.rfind('\n') == absl::string_view::npos ? 0 : text.rfind('\n') + 1));
}

bool IsInstalled(const std::string& program) { return program.find('/') != std::string::npos; }

// Whether the kernel lets a process confine itself, as those that read models do.
bool HasSeccomp() {
  uint32_t action = SECCOMP_RET_KILL_PROCESS;
  return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

// What a worker without LibTorch measures through, by `cobra-worker runtimes --json`.
Finding RuntimesFinding(const std::string& worker, absl::Duration patience) {
  const Ran ran = Run({worker, "runtimes", "--json"}, patience);
  const json answer = ran.code == 0 ? ParseJson<json>(LastLine(ran.text)) : json();
  const auto list = answer.is_object() ? answer.find("runtimes") : answer.end();
  std::vector<std::string> found;
  std::string first_missing;
  if (list != answer.end() && list->is_array()) {
    for (const json& runtime : *list) {
      if (!runtime.is_object()) continue;
      const std::string missing = runtime.value("missing", "");
      if (missing.empty()) found.push_back(absl::StrCat(runtime.value("name", ""), " ", runtime.value("version", "")));
      if (first_missing.empty()) first_missing = missing;
    }
  }
  if (found.empty()) {
    return {Health::kWarn, "worker",
            absl::StrCat("cobra-worker carries no LibTorch, and no other runtime is here, so this machine cannot be "
                         "measured: ",
                         first_missing),
            "install PyTorch, ONNX Runtime, OpenVINO or ncnn, and try: cobra-worker runtimes"};
  }
  return {Health::kOk, "worker",
          absl::StrCat("carries no LibTorch, measures through ", answer.value("python", "python3"), ": ",
                       absl::StrJoin(found, ", "), " (calibrate --runner NAME)"),
          ""};
}

Finding WorkerFinding(json* machine) {
  const std::string worker = SiblingProgram("cobra-worker");
  if (!IsInstalled(worker)) {
    return {Health::kWarn, "worker", "cobra-worker is not next to this program, so this machine cannot be measured",
            "install it, or calibrate with --worker PROGRAM or --probe FILE.json"};
  }
  constexpr absl::Duration kPatience = absl::Seconds(30);
  const Ran ran = Run({worker, "describe"}, kPatience);
  if (ran.code == 0) *machine = ParseJson<json>(LastLine(ran.text));
  if (machine->is_object()) {
    return {Health::kOk, "worker",
            absl::StrCat("measures ", machine->value("name", ""), ": ", machine->value("device", ""), ", ",
                         machine->value("runtime", "")),
            ""};
  }
  if (absl::StrContains(ran.text, "carries no LibTorch")) return RuntimesFinding(worker, kPatience);
  if (absl::StrContains(ran.text, ".lock") || absl::StrContains(ran.text, "--share-device")) {
    return {Health::kWarn, "worker", absl::StrCat("another one is measuring: ", LastLine(ran.text)),
            "wait for it, or use another processor: --core N"};
  }
  if (ran.timed_out) {
    return {Health::kFail, "worker",
            absl::StrCat(worker, " describe does not finish within ", absl::FormatDuration(kPatience)),
            "check what else runs on this machine, then try: cobra-worker describe"};
  }
  return {
      Health::kFail, "worker",
      absl::StrCat(worker, ran.code < 0 ? ": " : absl::StrCat(" ends with code ", ran.code, ": "), LastLine(ran.text)),
      absl::StrCat("check that LibTorch is installed (",
                   IsInSourceTree() ? "scripts/setup.sh" : "apt install --fix-broken",
                   ") and that the processor may be used (taskset, cpuset)")};
}

}  // namespace

Findings LookAtPrograms(json* machine) {
  Findings findings;
  std::vector<std::string> missing;
  for (const char* name : {"cobra-server", "cobra-reader"}) {
    if (!IsInstalled(SiblingProgram(name))) missing.push_back(name);
  }
  for (const std::string& name : missing) {
    findings.push_back({Health::kWarn, "programs", absl::StrCat(name, " is not next to this program"),
                        "a server on this machine needs it: install it there"});
  }
  if (missing.empty()) findings.push_back({Health::kOk, "programs", absl::StrCat("in ", ProgramFolder()), ""});
  if (HasSeccomp()) {
    findings.push_back({Health::kOk, "sandbox", "the kernel confines the processes that read models (seccomp)", ""});
  } else {
    findings.push_back(
        {Health::kFail, "sandbox", "the kernel refuses to confine processes (seccomp)",
         "allow seccomp in the container's profile; for trusted models: cobra-server --insecure-reader"});
  }
  findings.push_back(WorkerFinding(machine));
  return findings;
}

Findings LookAtBlas(absl::string_view runtime, absl::string_view usual_kernels) {
  if (absl::StrContains(runtime, "+mkl")) return {{Health::kOk, "BLAS", "MKL", ""}};
  const size_t at = runtime.find("+openblas-");
  if (at == absl::string_view::npos) {
    return {{Health::kWarn, "BLAS",
             absl::StrCat("LibTorch computes with the reference BLAS, many times slower (", runtime, ")"),
             "install OpenBLAS: apt install libopenblas0-pthread"}};
  }
  const absl::string_view kernels = runtime.substr(at + std::string("+openblas-").size());
  const char* asked = std::getenv("OPENBLAS_CORETYPE");
  if (usual_kernels.empty() || absl::EqualsIgnoreCase(kernels, usual_kernels))
    return {{Health::kOk, "BLAS", absl::StrCat("OpenBLAS with the kernels of ", kernels), ""}};
  const std::string text =
      absl::StrCat("OpenBLAS takes the kernels of ", kernels, ", and this processor can do those of ", usual_kernels);
  if (asked != nullptr && *asked != 0) {
    return {{Health::kWarn, "BLAS", absl::StrCat(text, ", because of OPENBLAS_CORETYPE=", asked),
             "unset OPENBLAS_CORETYPE before measuring, unless the models run with it"}};
  }
  return {{Health::kWarn, "BLAS", text,
           absl::StrCat("set OPENBLAS_CORETYPE=", usual_kernels, " where the models run, too")}};
}

Findings LookAtLibraries() {
  Findings findings;
  const std::string runtimes = DataPath("build/runtimes");
  const char* python = std::getenv("COBRA_RUNNER_PYTHON");
  if (python != nullptr && *python != 0) {
    const bool works = FileExists(python);
    findings.push_back({works ? Health::kOk : Health::kFail, "runtimes",
                        absl::StrCat("COBRA_RUNNER_PYTHON=", python, works ? "" : ": is not there"),
                        works ? "" : "name the Python that has PyTorch, ONNX Runtime or others"});
  } else if (FileExists(runtimes + "/requirements.txt")) {
    findings.push_back({Health::kOk, "runtimes", absl::StrCat("for calibrate --runner in ", runtimes), ""});
  } else {
    findings.push_back(
        {Health::kOk, "runtimes",
         absl::StrCat("those of python3; ",
                      IsInSourceTree() ? "scripts/setup.sh --runtimes installs others for calibrate --runner"
                                       : absl::StrCat("others for calibrate --runner: COBRA_RUNNER_PYTHON names a "
                                                      "Python that has them (",
                                                      DocPath("docs/runners.md"), ")")),
         ""});
  }
  for (const char* library : {"torchvision", "timm"}) {
    std::string where;
    for (const std::string& folder : InstalledPackageFolders()) {
      if (where.empty() && HasModule(folder, library)) where = folder;
    }
    findings.push_back({Health::kOk, "libraries",
                        where.empty() ? absl::StrCat(library, " is not installed; only its models need it")
                                      : absl::StrCat(library, " is found: --library ", where),
                        ""});
  }
  return findings;
}

}  // namespace cobra::client
