// Work for a server: `cobra-worker work`. This process measures what lies in the spool; a second one, the courier
// (courier.h), fetches it there and hands in what was measured, so that the measuring process has no threads and no
// network.
#ifndef COBRA_WORKER_WORK_H_
#define COBRA_WORKER_WORK_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/group_runner.h"
#include "worker/sampler.h"

namespace cobra::worker {

struct WorkOptions {
  std::string spool;  // folder
  std::vector<std::string>
      courier;                // its command line; started anew when it dies. Empty: somebody else looks after the spool
  bool share_device = false;  // do not refuse when another worker measures here
  bool until_idle = false;    // end when the courier finds nothing to do, instead of waiting for more
  int group_tasks = 60;       // between two canaries
  GroupRunnerOptions runner;
  SamplerOptions sampler;
};

// Until SIGTERM or SIGINT: finishes the group that is being measured, hands in, gives the rest back.
absl::Status RunWork(const WorkOptions& options);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_WORK_H_
