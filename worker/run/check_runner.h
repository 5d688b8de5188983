// Tests a third-party runner (docs/runners.md): whether its results are right, its clock agrees
// with ours, it gives memory back, and it survives a failure.
#ifndef COBRA_WORKER_RUN_CHECK_RUNNER_H_
#define COBRA_WORKER_RUN_CHECK_RUNNER_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/machine/execution.h"
#include "worker/sample/sampler.h"

namespace cobra::worker {

struct CheckRunnerOptions {
  std::vector<std::string> runner;
  Execution execution;
  SamplerOptions sampler;
  // Three quarters of them are layers.
  int graphs = 200;
};

// Writes a report to `out`; true if nothing failed. A network that the runtime cannot run is not a
// failure.
absl::StatusOr<bool> CheckRunner(const CheckRunnerOptions& options, std::ostream& out);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_RUN_CHECK_RUNNER_H_
