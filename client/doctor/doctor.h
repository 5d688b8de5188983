// `cobra-client doctor`: looks for what keeps this machine from predicting and measuring well, and
// tells how to fix it. Each check is bounded in time, does not need root, and changes nothing;
// no server is started.
#ifndef COBRA_CLIENT_DOCTOR_DOCTOR_H_
#define COBRA_CLIENT_DOCTOR_DOCTOR_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/request/common_flags.h"
#include "nlohmann/json_fwd.hpp"

namespace cobra::client {

enum class Health {
  kOk,
  kWarn,  // it works, but worse than it could
  kFail,  // something does not work
};

struct Finding {
  Health health = Health::kOk;
  std::string area;  // "server", "weights", "clocks"
  std::string text;  // what was found
  std::string mend;  // what to do; empty if all is well
};
using Findings = std::vector<Finding>;

// The server, if one is named or listens; what it serves, and the calibration. `machine`: what
// `cobra-worker describe` says, null if it could not be asked.
Findings LookAtServer(const CommonFlags& common, const nlohmann::json& machine);

// The shipped weights, and where the server of this user keeps its files.
Findings LookAtWeights(const std::string& model_folder);
Findings LookAtFolders();

// The programs beside this one, and what the kernel lets them do; `machine` is set to what
// cobra-worker says.
Findings LookAtPrograms(nlohmann::json* machine);
// The linear algebra of LibTorch, by its runtime's name: "libtorch-1.13.1+openblas-Haswell".
Findings LookAtBlas(absl::string_view runtime, absl::string_view usual_kernels);
// Other runtimes, and libraries whose models can be read.
Findings LookAtLibraries();

// Processors, clocks and load, as /proc and /sys below `root` say ("" for those of this machine).
// Takes half a second.
Findings LookAtMachine(const std::string& root);

// One line for each finding; on a terminal wrapped below its beginning.
std::string FindingsText(const Findings& findings, const TerminalStyle& style);
std::string FindingsJson(const Findings& findings);

// The exit code: 1 if something fails.
absl::StatusOr<int> RunDoctor(const CommonFlags& common);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_DOCTOR_DOCTOR_H_
