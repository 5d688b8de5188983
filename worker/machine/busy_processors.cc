#include "worker/machine/busy_processors.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file/file.h"

namespace cobra::worker {
namespace {

double SecondsOf(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double BusyNow(const std::vector<int>& processors) {
  const absl::StatusOr<std::string> stat = ReadFile("/proc/stat");
  return stat.ok() ? BusySeconds(*stat, processors, static_cast<double>(sysconf(_SC_CLK_TCK))) : 0;
}

}  // namespace

std::vector<int> OwnProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> processors;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return processors;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) processors.push_back(i);
  }
  return processors;
}

double BusySeconds(absl::string_view stat, const std::vector<int>& processors, double ticks_per_second) {
  constexpr size_t kIdle = 4, kWait = 5, kGuest = 9;  // a guest's time is also in that of its user
  std::set<std::string> names;
  for (const int processor : processors) names.insert(absl::StrCat("cpu", processor));
  double ticks = 0;
  for (const absl::string_view line : absl::StrSplit(stat, '\n')) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.empty() || names.count(std::string(words[0])) == 0) continue;
    for (size_t i = 1; i < std::min(words.size(), kGuest); ++i) {
      double value = 0;
      if (i != kIdle && i != kWait && absl::SimpleAtod(words[i], &value)) ticks += value;
    }
  }
  return ticks / ticks_per_second;
}

BusyProcessors::BusyProcessors()
    : processors_(OwnProcessors()),
      busy_s_(BusyNow(processors_)),
      own_s_(SecondsOf(CLOCK_PROCESS_CPUTIME_ID)),
      wall_s_(SecondsOf(CLOCK_MONOTONIC)) {}

double BusyProcessors::Others(int threads) const {
  const double wall = SecondsOf(CLOCK_MONOTONIC) - wall_s_;
  const double own = SecondsOf(CLOCK_PROCESS_CPUTIME_ID) - own_s_;
  const double busy = BusyNow(processors_) - busy_s_;
  if (!(wall > 0) || processors_.empty()) return 0;
  const double free = std::max(0.0, static_cast<double>(processors_.size()) - threads);
  return std::max(0.0, (busy - own) / wall - free);
}

}  // namespace cobra::worker
