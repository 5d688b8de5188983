// What the doctor finds about processors, clocks and load: what makes measurements worse than the
// machine is.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/file/file.h"
#include "base/text/counted.h"
#include "client/doctor/doctor.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

constexpr char kProcessors[] = "/sys/devices/system/cpu/";

// Without the end of the line; empty if there is none.
std::string Read(const std::string& path) {
  return std::string(absl::StripAsciiWhitespace(ReadFile(path, int64_t{1} << 20).value_or("")));
}

std::vector<int> AllowedProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> allowed;
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return allowed;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) allowed.push_back(i);
  }
  return allowed;
}

// "0-3,8" -> 0, 1, 2, 3, 8
std::set<int> ParseProcessors(const std::string& text) {
  std::set<int> processors;
  for (const absl::string_view part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::vector<absl::string_view> ends = absl::StrSplit(part, '-');
    int first = 0, last = 0;
    if (!absl::SimpleAtoi(ends.front(), &first) || !absl::SimpleAtoi(ends.back(), &last)) continue;
    for (int i = first; i <= std::min(last, first + CPU_SETSIZE); ++i) processors.insert(i);
  }
  return processors;
}

Finding ProcessorsFinding(const std::string& root, const std::vector<int>& allowed) {
  const std::set<int> online = ParseProcessors(Read(absl::StrCat(root, kProcessors, "online")));
  const size_t all = std::max(online.size(), allowed.size());
  if (allowed.size() >= all)
    return {Health::kOk, "processors", absl::StrCat("all ", allowed.size(), " may be used"), ""};
  return {Health::kWarn, "processors",
          absl::StrCat("this process may use ", allowed.size(), " of ", all, " (", absl::StrJoin(allowed, ","),
                       "): taskset, or the container's cpuset"),
          "that is enough for one thread; for more, allow more processors"};
}

// The processors' worth of time that the group of this process may use; 0: no limit, or unknown.
double QuotaOf(const std::string& root) {
  std::string below;  // of cgroup v2: the line that begins with 0::
  for (const absl::string_view line : absl::StrSplit(Read(root + "/proc/self/cgroup"), '\n')) {
    absl::string_view path = line;
    if (absl::ConsumePrefix(&path, "0::")) below = std::string(path);
  }
  for (const std::string& file :
       {absl::StrCat(root, "/sys/fs/cgroup", below, "/cpu.max"), absl::StrCat(root, "/sys/fs/cgroup/cpu.max")}) {
    const std::vector<std::string> words = absl::StrSplit(Read(file), ' ', absl::SkipEmpty());
    double quota = 0, period = 0;
    if (words.size() == 2 && absl::SimpleAtod(words[0], &quota) && absl::SimpleAtod(words[1], &period) && period > 0)
      return quota / period;
  }
  double quota = 0, period = 0;
  const bool has_old = absl::SimpleAtod(Read(root + "/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), &quota) &&
                       absl::SimpleAtod(Read(root + "/sys/fs/cgroup/cpu/cpu.cfs_period_us"), &period);
  return has_old && quota > 0 && period > 0 ? quota / period : 0;
}

Findings QuotaFindings(const std::string& root) {
  const double quota = QuotaOf(root);
  if (quota <= 0) return {};
  if (quota >= 1) return {{Health::kOk, "quota", absl::StrFormat("the time of %.3g processors", quota), ""}};
  return {
      {Health::kWarn, "quota",
       absl::StrFormat("this process gets %.0f %% of one processor's time, so measurements are throttled", 100 * quota),
       "give the container at least one whole processor while it measures (--cpus)"}};
}

Findings ClockFindings(const std::string& root, int processor) {
  const std::string folder = absl::StrCat(root, kProcessors, "cpu", processor, "/cpufreq/");
  const std::string governor = Read(folder + "scaling_governor");
  Findings findings;
  if (governor.empty()) {
    findings.push_back({Health::kOk, "clocks", "not visible here, as in most virtual machines", ""});
  } else if (governor == "performance") {
    findings.push_back({Health::kOk, "clocks", "governor performance", ""});
  } else {
    findings.push_back({Health::kWarn, "clocks", absl::StrCat("governor ", governor, ": clocks follow the load"),
                        "while measuring: cpupower frequency-set -g performance (as root)"});
  }
  const std::string no_turbo = Read(absl::StrCat(root, kProcessors, "intel_pstate/no_turbo"));
  const std::string boost = Read(absl::StrCat(root, kProcessors, "cpufreq/boost"));
  if (no_turbo == "0" || boost == "1")
    findings.push_back({Health::kOk, "turbo", "on: the clock depends on temperature and on what else runs", ""});
  if (no_turbo == "1" || boost == "0") findings.push_back({Health::kOk, "turbo", "off: the clock is steady", ""});
  return findings;
}

// Jiffies of one line of /proc/stat.
struct Times {
  double all = 0, idle = 0, steal = 0;
};

std::map<std::string, Times> ReadTimes(const std::string& root) {
  std::map<std::string, Times> times;
  const std::string text = Read(root + "/proc/stat");
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    constexpr size_t kIdle = 4, kWait = 5, kSteal = 8, kGuest = 9;  // guest time counts as user time already
    if (words.size() <= kSteal || !absl::StartsWith(words[0], "cpu")) continue;
    Times& t = times[words[0]];
    for (size_t i = 1; i < std::min(words.size(), kGuest); ++i) {
      double value = 0;
      if (!absl::SimpleAtod(words[i], &value)) continue;
      t.all += value;
      if (i == kIdle || i == kWait) t.idle += value;
      if (i == kSteal) t.steal = value;
    }
  }
  return times;
}

// Shares of the time between two readings, or of all time where nothing has passed (files of a
// test).
Times Between(Times before, const Times& after) {
  if (after.all <= before.all) before = {};
  const double all = std::max(after.all - before.all, 1.0);
  return {all, (after.idle - before.idle) / all, (after.steal - before.steal) / all};
}

Findings LoadFindings(const std::string& root, int processor) {
  constexpr absl::Duration kLook = absl::Milliseconds(500);
  std::map<std::string, Times> before = ReadTimes(root);
  if (root.empty()) absl::SleepFor(kLook);
  std::map<std::string, Times> after = ReadTimes(root);
  Findings findings;
  double load = 0;
  const std::vector<std::string> words = absl::StrSplit(Read(root + "/proc/loadavg"), ' ');
  constexpr double kBusyLoad = 0.5, kStolen = 0.02, kBusySibling = 0.1;
  if (absl::SimpleAtod(words[0], &load)) {
    findings.push_back(
        {load > kBusyLoad ? Health::kWarn : Health::kOk, "load",
         absl::StrFormat("%.2f processes ran in the last minute", load),
         load > kBusyLoad ? "leave the machine idle while it measures; predictions are not affected" : ""});
  }
  const double stolen = Between(before["cpu"], after["cpu"]).steal;
  if (stolen > kStolen) {
    findings.push_back({Health::kWarn, "steal",
                        absl::StrFormat("other virtual machines take %.0f %% of the processors' time", 100 * stolen),
                        "measure at a quieter time, or on a machine of your own"});
  }
  const std::set<int> siblings =
      ParseProcessors(Read(absl::StrCat(root, kProcessors, "cpu", processor, "/topology/thread_siblings_list")));
  for (const int sibling : siblings) {
    if (sibling == processor) continue;
    const std::string name = absl::StrCat("cpu", sibling);
    const double busy = 1 - Between(before[name], after[name]).idle;
    findings.push_back(
        {busy > kBusySibling ? Health::kWarn : Health::kOk, "siblings",
         absl::StrFormat("processor %d shares a core with %d, which is %.0f %% busy", processor, sibling, 100 * busy),
         busy > kBusySibling ? "keep it idle while measuring, or switch hyperthreading off" : ""});
  }
  return findings;
}

}  // namespace

Findings LookAtMachine(const std::string& root) {
  const std::vector<int> allowed = AllowedProcessors();
  const int processor = allowed.empty() ? 0 : allowed[0];
  Findings all = {ProcessorsFinding(root, allowed)};
  for (Findings& more :
       std::array<Findings, 3>{QuotaFindings(root), ClockFindings(root, processor), LoadFindings(root, processor)})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace cobra::client
