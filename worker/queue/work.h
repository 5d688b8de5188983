// Work for a server: `cobra-worker work`. This process measures the tasks in the spool. A second
// one, the queue client, leases tasks into the spool and reports the records, so that the measuring
// process has no threads and no network.
#ifndef COBRA_WORKER_QUEUE_WORK_H_
#define COBRA_WORKER_QUEUE_WORK_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/run/group_runner.h"
#include "worker/sample/sampler.h"

namespace cobra::worker {

struct WorkOptions {
  // Folder.
  std::string spool;
  // Name of this worker for the server; empty: the one in the spool.
  std::string worker;
  // Command line of the queue client, which is restarted if it dies. Empty: another process serves
  // the spool.
  std::vector<std::string> queue_client;
  // Measure even if another worker uses this device.
  bool share_device = false;
  // Tasks between two canaries.
  int group_tasks = 60;
  GroupRunnerOptions runner;
  SamplerOptions sampler;
};

// Runs until SIGTERM or SIGINT: then finishes the current task, reports what was measured, and
// releases the others.
absl::Status RunWork(const WorkOptions& options);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_QUEUE_WORK_H_
