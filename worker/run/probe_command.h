// The command `probe`.
#ifndef COBRA_WORKER_RUN_PROBE_COMMAND_H_
#define COBRA_WORKER_RUN_PROBE_COMMAND_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "worker/run/group_runner.h"

namespace cobra::worker {

// Runs a probe (probe.h), with its progress and a warning of a busy machine on standard error, and
// prints it: as JSON, or a line for each layer and network.
absl::Status PrintProbe(const GroupRunnerOptions& options, absl::Duration budget, bool as_json);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_RUN_PROBE_COMMAND_H_
