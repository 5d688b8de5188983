// Describes this machine, or its GPU, as a target: name, properties and measured speed.
#ifndef COBRA_WORKER_RUN_DESCRIBE_H_
#define COBRA_WORKER_RUN_DESCRIBE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/predict/target/target.h"
#include "worker/machine/execution.h"

namespace cobra::worker {

// The target of records measured with this execution: DescribeMachine with measured peak_gflops and
// memory_gb_per_s. Runs in a child process if the execution requires it; otherwise in this process,
// which the caller has pinned and in which it has configured LibTorch.
absl::StatusOr<predict::TargetSpec> DescribeTarget(const Execution& execution);
// Its name, without measurements. Unavailable if the GPU's driver does not respond.
absl::StatusOr<std::string> NameOfTarget(const Execution& execution);

// One line of JSON for `cobra-worker describe`: the target's fields, then "caches_kb", "versions",
// "precisions" (those that can be measured here), "sensors" ("unavailable" for each that cannot be
// read); and "disturbed", true, if something else ran on these processors in each of six attempts,
// so that the speeds may be too low.
absl::StatusOr<std::string> DescriptionJson(const Execution& execution, int core);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_RUN_DESCRIBE_H_
