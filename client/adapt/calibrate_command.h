// `cobra-client calibrate`: measures this machine and makes a target of it.
#ifndef COBRA_CLIENT_ADAPT_CALIBRATE_COMMAND_H_
#define COBRA_CLIENT_ADAPT_CALIBRATE_COMMAND_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/names.h"
#include "client/request/common_flags.h"
#include "cobra/v1/cobra.pb.h"

namespace cobra::client {

struct CalibrateFlags {
  std::string probe_file;  // empty: measure
  std::string worker;      // empty: cobra-worker next to this program
  std::string runner;      // of cobra-worker probe; empty: LibTorch, PyTorch where the worker carries none
  int threads = 1;
  int core = -1;              // the first that this process may use
  std::string budget = "1m";  // of cobra-worker probe, as threads and core
  std::string name = kThisMachine;
  bool undo = false;  // withdraw the version that serves, instead of adding one
};

// As the server checks it, before a minute of measuring.
absl::Status CheckTargetName(const std::string& name);

// Measures this machine and makes the target. `warning`: that it was busy; empty if it was not.
absl::StatusOr<v1::CalibrateResponse> Calibrate(const CommonFlags& common, const CalibrateFlags& flags,
                                                std::string* warning);

// The exit code.
absl::StatusOr<int> RunCalibrate(const CommonFlags& common, const CalibrateFlags& flags);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ADAPT_CALIBRATE_COMMAND_H_
