// How much else runs on the processors that this process may use.
#ifndef COBRA_WORKER_MACHINE_BUSY_PROCESSORS_H_
#define COBRA_WORKER_MACHINE_BUSY_PROCESSORS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cobra::worker {

// The processors that this process may use (taskset, a container's cpuset); empty if unknown.
std::vector<int> OwnProcessors();

// Seconds that `processors` were busy, for anybody (also for other virtual machines: steal), by the
// text of /proc/stat; 0 for one that is not in it.
double BusySeconds(absl::string_view stat, const std::vector<int>& processors, double ticks_per_second);

class BusyProcessors {
 public:
  // Starts counting.
  BusyProcessors();
  // How many processors others kept busy since then, of those that this process may use, beyond
  // those that `threads` of ours leave free: 0 on a quiet machine, and if /proc cannot be read.
  double Others(int threads) const;

 private:
  const std::vector<int> processors_;
  const double busy_s_, own_s_, wall_s_;
};

}  // namespace cobra::worker

#endif  // COBRA_WORKER_MACHINE_BUSY_PROCESSORS_H_
