// This machine, or its GPU, as a target: what it is called, what it has and what it reaches.
#ifndef COBRA_WORKER_DESCRIBE_H_
#define COBRA_WORKER_DESCRIBE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/predict/target.h"
#include "worker/execution.h"

namespace cobra::worker {

// The target of records measured in this way: DescribeMachine with peak_gflops and memory_gb_per_s measured. Runs in a
// child process where the execution has to; otherwise here, where the caller has pinned the process and set LibTorch
// up.
absl::StatusOr<predict::TargetSpec> DescribeTarget(const Execution& execution);
// Its name alone, which costs nothing. Unavailable where the GPU's driver does not answer.
absl::StatusOr<std::string> NameOfTarget(const Execution& execution);

// One line of JSON for `cobra-worker describe`: the target's fields, then "memory_gb", "caches_kb", "versions",
// "precisions" (those that can be measured here), "sensors" ("unavailable" for each that cannot be read).
absl::StatusOr<std::string> DescriptionJson(const Execution& execution, int core);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_DESCRIBE_H_
