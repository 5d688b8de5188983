// Tests a third-party runner (docs/runners.md): right results, a clock that agrees with ours,
// memory given back, life after a failure.
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

// Writes a report to `out`, what failed first; true if nothing did. A network that the runtime
// cannot run is none.
absl::StatusOr<bool> CheckRunner(const CheckRunnerOptions& options, std::ostream& out);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_RUN_CHECK_RUNNER_H_
