// `cobra-client sweep`: one model at many batches.
#ifndef COBRA_CLIENT_SERIES_SWEEP_COMMAND_H_
#define COBRA_CLIENT_SERIES_SWEEP_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/input/model_arguments.h"
#include "client/request/common_flags.h"
#include "client/request/request.h"
#include "client/series/sweep.h"

namespace cobra::client {

struct SweepFlags {
  ModelArguments model;
  std::vector<std::string> targets;
  AskFlags ask;
  std::string batches = "1..256";  // ParseBatches()
  double memory_gb = 0;            // of each target; 0: what the target says
  std::string format;              // "svg"; empty: that of CommonFlags
  std::string out = "-";           // "-": standard output
};

struct AskedSweep {
  Sweep sweep;
  ModelArguments model;  // with the entry that was taken for lack of one
  absl::Status lost;     // why not all of it is answered, though some is
};
// Asks, and writes nothing but which entry was taken for lack of one. The first error if no batch
// is answered on any target.
absl::StatusOr<AskedSweep> AskSweep(const CommonFlags& common, SweepFlags flags);

// The exit code: that of the first error if no batch is answered on any target.
absl::StatusOr<int> RunSweep(const CommonFlags& common, SweepFlags flags);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_SERIES_SWEEP_COMMAND_H_
