// Describes this machine, or its GPU, as a target: name, properties and measured speed.
#ifndef COBRA_WORKER_RUN_DESCRIBE_H_
#define COBRA_WORKER_RUN_DESCRIBE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/predict/target/target.h"
#include "worker/machine/execution.h"
#include "worker/run/runner_session.h"

namespace cobra::worker {

// The target of records measured with this execution, in `runner` if not null: DescribeMachine with
// measured speeds. Runs in a child process if the execution requires it; otherwise in this process,
// which the caller has pinned and in which it has configured LibTorch.
absl::StatusOr<predict::TargetSpec> DescribeTarget(const Execution& execution, RunnerSession* runner);
// Its name, without measurements. Unavailable if the GPU's driver does not respond.
absl::StatusOr<std::string> NameOfTarget(const Execution& execution, const RunnerSession* runner);

// Whether only a child of this process may run an execution: see Execution. Loops of our own leave
// no threads behind.
bool NeedsChild(const Execution& execution);

// One line of JSON for `cobra-worker describe`: the target's fields, then "caches_kb", "versions",
// "precisions" (those that can be measured here), "sensors" ("unavailable" for each that cannot be
// read); and "disturbed", true, if something else ran on these processors in each of six attempts,
// so that the speeds may be too low.
absl::StatusOr<std::string> DescriptionJson(const Execution& execution, int core, RunnerSession* runner);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_RUN_DESCRIBE_H_
