// How much else runs on the processors that this process may use.
#ifndef COBRA_WORKER_MACHINE_BUSY_PROCESSORS_H_
#define COBRA_WORKER_MACHINE_BUSY_PROCESSORS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cobra::worker {

// Seconds that each of `processors` was busy for whomever (also for other virtual machines: steal),
// by the text of /proc/stat; 0 where it says nothing of one.
double BusySeconds(absl::string_view stat, const std::vector<int>& processors, double ticks_per_second);

class BusyProcessors {
 public:
  // Begins to look.
  BusyProcessors();
  // How many processors others kept busy since then, of those that this process may use, less those
  // that `threads` of ours leave free: 0 on a quiet machine, and where /proc cannot be read.
  double Others(int threads) const;

 private:
  const std::vector<int> processors_;
  const double busy_s_, own_s_, wall_s_;
};

}  // namespace cobra::worker

#endif  // COBRA_WORKER_MACHINE_BUSY_PROCESSORS_H_
